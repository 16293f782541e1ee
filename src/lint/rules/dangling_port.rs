use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::Finding;
use crate::flux::{Applied, ApplyMode};
use crate::kube::{Object, ObjectId};
use crate::lint::fields::known_text;
use crate::lint::findings::Findings;
use crate::lint::refs::backend::{ROUTES, backends_of_ingress, backends_of_route};
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::Node;

declare! {
    /// An Ingress or a route uses a port that its Service does not have, or a Service uses the name of a port that its pods do not have.
    ///
    /// ## Why
    ///
    /// The API server accepts such a reference, so Flux applies the object. But the controller of the Ingress or of the
    /// Gateway answers with an error, because it looks for the port among `spec.ports` of the Service. `targetPort` of a
    /// Service may be the name of a port of a container. Kubernetes sends no traffic to a pod without a port of this name.
    ///
    /// A container may listen on a port that it does not declare, so the rule does not check the numbers in `targetPort`.
    /// The rule ignores Services of type `ExternalName`, Services that a chart creates, the names of ports that service meshes
    /// add to pods, `targetPort` of headless Services, and Ingresses that redirect all requests.
    ///
    /// ## How to fix it
    ///
    /// Write a port of the Service: its number or its name, not the port of the container. For `targetPort`, write the name
    /// of a port of the container.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Service
    /// metadata:
    ///   name: web
    ///   namespace: web
    /// spec:
    ///   selector:
    ///     app: web
    ///   ports:
    ///     - port: 80
    ///       targetPort: 8080
    /// ---
    /// apiVersion: networking.k8s.io/v1
    /// kind: Ingress
    /// metadata:
    ///   name: web
    ///   namespace: web
    /// spec:
    ///   rules:
    ///     - host: web.example.com
    ///       http:
    ///         paths:
    ///           - path: /
    ///             pathType: Prefix
    ///             backend:
    ///               service:
    ///                 name: web
    ///                 port:
    ///                   number: 8080
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Service
    /// metadata:
    ///   name: web
    ///   namespace: web
    /// spec:
    ///   selector:
    ///     app: web
    ///   ports:
    ///     - port: 80
    ///       targetPort: 8080
    /// ---
    /// apiVersion: networking.k8s.io/v1
    /// kind: Ingress
    /// metadata:
    ///   name: web
    ///   namespace: web
    /// spec:
    ///   rules:
    ///     - host: web.example.com
    ///       http:
    ///         paths:
    ///           - path: /
    ///             pathType: Prefix
    ///             backend:
    ///               service:
    ///                 name: web
    ///                 port:
    ///                   number: 80
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Kubernetes: Services](https://kubernetes.io/docs/concepts/services-networking/service/#field-spec-ports),
    /// [Ingress](https://kubernetes.io/docs/concepts/services-networking/ingress/),
    /// [Gateway API: BackendRef](https://gateway-api.sigs.k8s.io/reference/spec/#backendref)
    "dangling-port", Warning,
    "an Ingress, a route or a Service uses a port that does not exist", Check::Cluster(check),
}

/// The maximum number of ports that a help names.
const MAX_NAMED: usize = 8;

/// The maximum number of pods whose ports a help names.
const MAX_LISTED: usize = 16;

/// The beginnings of the names of ports of containers that service meshes add to pods.
const OF_MESHES: [&str; 3] = ["envoy", "http-envoy", "linkerd"];

fn check(view: &View<'_>, found: &mut Findings) {
    if !view.is_whole() {
        return;
    }
    let mut services = Services::default();
    for ingress in view.of_kind("networking.k8s.io", "Ingress").filter(|ingress| !redirects(ingress.object)) {
        for backend in backends_of_ingress(ingress.object) {
            let service = backend.get("service");
            let name = service.and_then(|service| service.get("name"));
            let port = service.and_then(|service| service.get("port"));
            if let (Some(name), Some(port), Some(namespace)) = (name, port, ingress.namespace()) {
                let port = port.get("number").or_else(|| port.get("name"));
                services.check(view, &ingress, (namespace, name), port, found);
            }
        }
    }
    for (group, kind) in ROUTES {
        for route in view.of_kind(group, kind) {
            for backend in backends_of_route(route.object) {
                let text = |key: &str| backend.get(key).and_then(Node::text).filter(|text| !text.is_empty());
                let is_service = text("group").is_none() && text("kind").is_none_or(|kind| kind == "Service");
                let namespace = text("namespace").or(route.namespace()).filter(|_| is_service);
                if let (Some(name), Some(namespace)) = (backend.get("name"), namespace) {
                    services.check(view, &route, (namespace, name), backend.get("port"), found);
                }
            }
        }
    }
    for service in view.of_kind("", "Service").filter(|service| service.apply_mode() == ApplyMode::Applied) {
        check_targets(view, &service, found);
    }
}

/// Returns whether an Ingress redirects all requests, so that its backend only has to be valid.
fn redirects(ingress: &Object) -> bool {
    let annotations = ingress.node.at_keys(&["metadata", "annotations"]).map_or(&[][..], Node::entries);
    let ends = ["/permanent-redirect", "/temporal-redirect"];
    annotations.iter().any(|entry| ends.iter().any(|end| entry.key.ends_with(end)))
}

/// A port of a Service.
struct Port<'a> {
    number: &'a str,
    name: Option<&'a str>,
}

/// The ports of a Service.
struct Ports<'a> {
    all: Vec<Port<'a>>,
    /// Their numbers and names.
    known: BTreeSet<&'a str>,
}

impl<'a> Ports<'a> {
    /// Reads the ports of a Service; `None` if they are not known.
    fn of(service: &'a Object) -> Option<Self> {
        if matches!(service.text_at(&["spec", "type"]), Some("ExternalName")) {
            return None;
        }
        let items = service.node.at_keys(&["spec", "ports"])?.items();
        let all: Vec<Port<'_>> = items.iter().map(read_port).collect::<Option<_>>()?;
        let known = all.iter().flat_map(|port| port.name.into_iter().chain([port.number])).collect();
        (!all.is_empty()).then_some(Self { all, known })
    }

    /// The first ports, for display.
    fn named(&self) -> String {
        let named = self.all.iter().take(MAX_NAMED).map(|port| match port.name {
            Some(name) => format!("`{}` (`{name}`)", port.number),
            None => format!("`{}`", port.number),
        });
        named.collect::<Vec<String>>().join(", ")
    }
}

fn read_port(port: &Node) -> Option<Port<'_>> {
    let name = match port.get("name").filter(|name| !name.is_null()) {
        Some(name) => Some(known_text(name)?),
        None => None,
    };
    Some(Port { number: known_text(port.get("port")?)?, name })
}

/// The Services that backends use, by namespace and name, with their ports if these are known.
#[derive(Default)]
struct Services<'a>(BTreeMap<(&'a str, &'a str), Option<(Applied<'a>, Ports<'a>)>>);

impl<'a> Services<'a> {
    /// Checks the port of a backend.
    fn check(
        &mut self,
        view: &View<'a>,
        user: &Applied<'a>,
        (namespace, name): (&'a str, &'a Node),
        port: Option<&'a Node>,
        found: &mut Findings,
    ) {
        let Some((node, wanted)) = port.and_then(|port| Some((port, known_text(port)?))) else { return };
        let Some(name) = known_text(name) else { return };
        let service = self.0.entry((namespace, name)).or_insert_with(|| {
            let service = view.get(ObjectId { group: "", kind: "Service", namespace, name })?;
            (service.apply_mode() == ApplyMode::Applied).then_some(())?;
            Some((service, Ports::of(service.object)?))
        });
        let Some((service, ports)) = service else { return };
        let is_action = wanted == "use-annotation";
        if is_action || ports.known.contains(wanted) {
            return;
        }
        let (by, service_name) = (user.object.reference(), service.object.reference());
        let message = format!("{by} routes to port `{wanted}` of {service_name}, which does not have this port");
        let named = ports.named();
        let help = format!("write a port of the Service, not a port of the container: the Service has {named}");
        let finding = Finding::warning(RULE.id, user.by.place(node.span()), message).help(help).about(by);
        let finding = finding.related(service.by.place(service.object.span()), "this Service");
        let summary = format!(" places route to port `{wanted}` of {service_name}, which does not have this port");
        found.push(finding.caused_by(format!("{service_name} {wanted}"), "", summary));
    }
}

/// Checks the names in `targetPort` of a Service.
fn check_targets(view: &View<'_>, service: &Applied<'_>, found: &mut Findings) {
    let Some(spec) = service.object.node.get("spec") else { return };
    let (Some(selector), Some(namespace)) = (spec.get("selector"), service.namespace()) else { return };
    // The names of a headless Service lead to all pods.
    if spec.get("clusterIP").and_then(Node::text) == Some("None") {
        return;
    }
    let names = spec.get("ports").map_or(&[][..], Node::items).iter();
    let names = names.filter_map(|port| port.get("targetPort")).filter_map(|node| Some((node, known_text(node)?)));
    let is_name = |name: &str| name.contains(|c: char| c.is_ascii_alphabetic());
    let mut names = names.filter(|(_, name)| is_name(name)).peekable();
    if names.peek().is_none() || view.pod_labels().is_open(namespace) {
        return;
    }
    let Some(pods) = view.pod_labels().selected(namespace, selector).filter(|pods| !pods.is_empty()) else { return };
    let Some(known) = pods.iter().map(|pods| pods.port_names()).collect::<Option<Vec<_>>>() else { return };
    for (node, name) in names.filter(|(_, name)| !known.iter().any(|known| known.contains(name))) {
        if OF_MESHES.iter().any(|mesh| name.starts_with(mesh)) {
            continue;
        }
        let by = service.object.reference();
        let message = format!("{by} sends traffic to port `{name}`, which no container of its pods has");
        let some: BTreeSet<&str> = known.iter().take(MAX_LISTED).copied().flatten().copied().collect();
        let listed = some.iter().take(MAX_NAMED).map(|name| format!("`{name}`")).collect::<Vec<String>>().join(", ");
        let help = if listed.is_empty() {
            "write the number of the port, or give the port of the container this name: Kubernetes sends no traffic \
             to this port"
                .to_owned()
        } else {
            format!(
                "write the name of a port of the containers, which have {listed}: Kubernetes sends no traffic to this port"
            )
        };
        let finding = Finding::warning(RULE.id, service.by.place(node.span()), message).help(help).about(by);
        let workload = pods.first().map(|pods| &pods.workload);
        found.push(match workload {
            Some(workload) => finding.related(workload.by.place(workload.object.span()), "these pods"),
            None => finding,
        });
    }
}
