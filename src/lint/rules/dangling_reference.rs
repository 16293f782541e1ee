use std::collections::BTreeSet;

use crate::base::finding::{Finding, Severity};
use crate::flux::{Applied, ApplyMode};
use crate::kube::{Object, ObjectId};
use crate::lint::facts::pods::containers;
use crate::lint::facts::pods::labels::WORKLOADS;
use crate::lint::fields::text_of;
use crate::lint::findings::Findings;
use crate::lint::presence::dangling::References;
use crate::lint::presence::missing::MissingSearch;
use crate::lint::presence::own_inputs::secrets_of_sources;
use crate::lint::refs::backend::{GATEWAY, ROUTES, backends_of_ingress, backends_of_route};
use crate::lint::refs::reference::Reference;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::Node;

declare! {
    /// A workload, an Ingress, a route or an autoscaler references an object that the cluster does not receive.
    ///
    /// ## Why
    ///
    /// The API server accepts the reference, so Flux applies the object. But a pod does not start without its
    /// ConfigMaps, Secrets, claims and service account, an Ingress or a route of the Gateway API without its Service answers
    /// with an error, a route without its Gateway gets no traffic, and an autoscaler without its target does nothing. A
    /// Kustomization that waits for such a workload never becomes ready.
    ///
    /// The severity is pedantic for a Secret, because users often create Secrets by hand, unless another name is
    /// similar or the repository contains the Secret in a directory that the cluster does not apply. The rule reports the
    /// Secret with the certificate of an Ingress only in the second case, or if another namespace has the Secret: an
    /// Ingress reads the Secrets of its own namespace, and controllers often create them. The severity is also pedantic
    /// for the service account of a workload with an image from a private registry of a cloud: the tools that create the
    /// role of such an account usually create the account.
    ///
    /// The rule ignores optional references, workloads without pods, objects that Kubernetes creates, and the Secrets of
    /// sources. It ignores a Service whose name states that it does not exist, such as `nonexistent`. It also ignores an object that one of these may create:
    ///
    /// - a chart in that namespace, or a source without a local copy
    /// - another tool that deploys to the namespace: a Service of a namespace for which the cluster receives no pods and no
    ///   other Service
    /// - an operator, if the object is named after a custom resource of the namespace, or a custom resource contains its
    ///   name
    /// - an operator that installs a whole product in the namespace: its custom resource or kind has the name of the
    ///   namespace
    /// - Argo CD, if an Application of the repository targets the namespace
    /// - a container of that namespace with the name in its arguments or environment, or another program of the
    ///   repository
    /// - a policy, or a role that allows an account to write the object by name
    ///
    /// ## How to fix it
    ///
    /// Correct the name, or add the object to that namespace. If another tool creates a ConfigMap or Secret, declare it
    /// below `external` in `.fleetwright.yaml`. If it creates an object of another kind, add an exception.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: web-settings
    ///   namespace: default
    /// data:
    ///   color: blue
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    ///   namespace: default
    /// spec:
    ///   selector:
    ///     matchLabels:
    ///       app: web
    ///   template:
    ///     metadata:
    ///       labels:
    ///         app: web
    ///     spec:
    ///       containers:
    ///         - name: web
    ///           image: ghcr.io/example/web:1.0.0
    ///           envFrom:
    ///             - configMapRef:
    ///                 name: web-setting
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: web-settings
    ///   namespace: default
    /// data:
    ///   color: blue
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    ///   namespace: default
    /// spec:
    ///   selector:
    ///     matchLabels:
    ///       app: web
    ///   template:
    ///     metadata:
    ///       labels:
    ///         app: web
    ///     spec:
    ///       containers:
    ///         - name: web
    ///           image: ghcr.io/example/web:1.0.0
    ///           envFrom:
    ///             - configMapRef:
    ///                 name: web-settings
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Kubernetes: ConfigMaps](https://kubernetes.io/docs/concepts/configuration/configmap/),
    /// [Ingress](https://kubernetes.io/docs/concepts/services-networking/ingress/)
    "dangling-reference", Warning,
    "a workload, an Ingress, a route or an autoscaler references an object that the cluster does not receive",
    Check::Cluster(check), fixes: [Unsafe],
}

/// The maximum number of missing objects of a cluster for each kind of reference. Each is searched in all objects.
const MAX_SEARCHES: usize = 500;

fn check(view: &View<'_>, found: &mut Findings) {
    if !view.is_whole() {
        return;
    }
    // Users or `flux bootstrap` create these Secrets before Flux runs.
    let of_sources = secrets_of_sources(view);
    let (mut needs, mut routes, mut targets) = (References::default(), References::default(), References::default());
    let (mut certificates, mut parents) = (References::default(), References::default());
    for applied in of_kinds(view, &WORKLOADS).filter(|applied| has_pods(applied.object)) {
        let Some(namespace) = applied.namespace() else { continue };
        let own = containers::references(applied.object).into_iter();
        let own = own.filter_map(|own| reference(own.name, "", own.kind, namespace));
        needs.add(applied, own.filter(|own| !of_sources.contains(&own.target)));
    }
    for applied in of_kinds(view, &[("networking.k8s.io", "Ingress")]) {
        routes.add(applied, backends(&applied));
        certificates.add(applied, tls_secrets(&applied));
    }
    for applied in of_kinds(view, &ROUTES) {
        parents.add(applied, parents_of(&applied));
        routes.add(applied, route_backends(&applied));
    }
    for applied in of_kinds(view, &[("autoscaling", "HorizontalPodAutoscaler")]) {
        let target = scaled(&applied);
        match target.as_ref().and_then(|target| gateway_of(view, target.target)) {
            Some(gateway) => {
                let target = target.map(|target| target.target.to_string()).unwrap_or_default();
                found.unchecked(format!("{target}, which the controller of {} may create", gateway.object.reference()));
            }
            None => targets.add(applied, target),
        }
    }
    let mut search = MissingSearch::on(view);
    let needed = Usage {
        verb: "needs",
        help: "add the object to that namespace, or correct the name: the pods do not start without it; if another tool \
               creates the object, declare it below `external` in `.fleetwright.yaml`",
        help_without_declaration: "add the object to that namespace, or correct the name: the pods do not start without it; if \
               another tool creates the object, add an exception with this reason",
        is_often_created: false,
        own_namespaces: None,
    };
    report(view, &mut search, needs, &needed, found);
    let help = "add the Service to that namespace, or correct the name";
    let own = namespaces_with_pods(view);
    let usage = Usage {
        verb: "routes to",
        help,
        help_without_declaration: help,
        is_often_created: false,
        own_namespaces: Some(&own),
    };
    report(view, &mut search, routes, &usage, found);
    let help = "add the Gateway to that namespace, or correct the name: without it, the route gets no traffic";
    report(
        view,
        &mut search,
        parents,
        &Usage {
            verb: "belongs to",
            help,
            help_without_declaration: help,
            is_often_created: false,
            own_namespaces: None,
        },
        found,
    );
    let help = "add the workload to that namespace, or correct the name";
    report(
        view,
        &mut search,
        targets,
        &Usage { verb: "scales", help, help_without_declaration: help, is_often_created: false, own_namespaces: None },
        found,
    );
    let help = "add the Secret to that namespace, or correct the name";
    report(
        view,
        &mut search,
        certificates,
        &Usage { verb: "serves", help, help_without_declaration: help, is_often_created: true, own_namespaces: None },
        found,
    );
}

/// The private registries of clouds, as parts of the names of images.
const REGISTRIES: [&str; 3] = [".dkr.ecr.", "-docker.pkg.dev/", ".azurecr.io/"];

/// Returns whether a workload has an image from a private registry of a cloud.
fn has_image_of_cloud(workload: &Object) -> bool {
    let images = containers::containers(workload).filter_map(|container| container.get("image")?.text());
    images.into_iter().any(|image| REGISTRIES.iter().any(|registry| image.contains(registry)))
}

/// The namespaces for which the cluster receives pods or Services. Another tool deploys to other namespaces.
fn namespaces_with_pods<'a>(view: &View<'a>) -> BTreeSet<&'a str> {
    of_kinds(view, &WORKLOADS).chain(of_kinds(view, &[("", "Service")])).filter_map(|found| found.namespace()).collect()
}

/// How objects use other objects.
struct Usage<'n> {
    /// The verb for a message.
    verb: &'static str,
    /// The help if no similar object exists.
    help: &'static str,
    /// The help for an object that the configuration cannot declare.
    help_without_declaration: &'static str,
    /// Whether controllers often create the used objects, so that only a mistaken reference is a fault.
    is_often_created: bool,
    /// The namespaces whose used objects the repository defines; `None` for all namespaces.
    own_namespaces: Option<&'n BTreeSet<&'n str>>,
}

/// Reports the references to missing objects.
fn report<'a>(
    view: &View<'a>,
    search: &mut MissingSearch<'_, 'a>,
    references: References<'a>,
    usage: &Usage<'_>,
    found: &mut Findings,
) {
    for (at, dangling) in references.dangling(search, found).into_iter().enumerate() {
        let target = dangling.target;
        if at >= MAX_SEARCHES {
            found.unchecked(format!("{target}, since too many objects of the cluster are missing"));
            continue;
        }
        if let Some(maker) = view.maker_in_namespace(target) {
            found.unchecked(format!("{target}, which the controller of {} may create", maker.object.reference()));
            continue;
        }
        if let Some(argo) = view.argo_of(target.namespace) {
            found.unchecked(format!("{target}, which Argo CD with {} may create", argo.reference()));
            continue;
        }
        let is_explained = dangling.missing.is_mistake() || dangling.missing.is_elsewhere();
        if usage.is_often_created && !is_explained {
            continue;
        }
        if !is_explained && usage.own_namespaces.is_some_and(|own| !own.contains(target.namespace)) {
            found.unchecked(format!("{target}, which another tool that deploys to the namespace may create"));
            continue;
        }
        // Tools that create the role of an account in a cloud usually create the account.
        let is_of_cloud = target.kind == "ServiceAccount" && dangling.users().all(has_image_of_cloud);
        let is_by_hand = (target.kind == "Secret" || is_of_cloud) && !is_explained;
        let severity = if is_by_hand { Severity::Pedantic } else { Severity::Warning };
        let is_declarable = matches!(target.kind, "ConfigMap" | "Secret");
        let help = if is_declarable { usage.help } else { usage.help_without_declaration };
        let finding = dangling.finding(RULE.id, usage.verb, help);
        // One tool, or one person, creates all objects of a kind that no manifest defines.
        let finding = if is_explained {
            finding
        } else {
            finding.caused_by(target.kind, "", format!(" objects of kind {} are referenced, but missing", target.kind))
        };
        found.push(Finding { severity, ..finding });
    }
}

/// The objects of some kinds that Flux applies.
fn of_kinds<'a>(view: &View<'a>, kinds: &[(&str, &str)]) -> impl Iterator<Item = Applied<'a>> {
    let all: Vec<Applied<'a>> = kinds.iter().flat_map(|(group, kind)| view.of_kind(group, kind)).collect();
    all.into_iter().filter(|applied| applied.apply_mode() != ApplyMode::Ignored)
}

/// Returns whether a workload has pods at present.
fn has_pods(object: &Object) -> bool {
    let text = |field: &str| object.text_at(&["spec", field]);
    text("replicas") != Some("0") && text("suspend") != Some("true")
}

/// The Services of the backends of an Ingress.
fn backends<'a>(ingress: &Applied<'a>) -> Vec<Reference<'a>> {
    let object: &'a Object = ingress.object;
    let Some(namespace) = ingress.namespace() else { return Vec::new() };
    let names = backends_of_ingress(object).filter_map(|backend| backend.at_keys(&["service", "name"]));
    let names = names.filter(|name| !name.text().is_some_and(is_missing_on_purpose));
    names.filter_map(|name| reference(name, "", "Service", namespace)).collect()
}

/// Returns whether the name of a Service states that the Service does not exist, so that the controller refuses the
/// requests for a path.
fn is_missing_on_purpose(name: &str) -> bool {
    let words = ["nonexist", "non-exist", "not-exist", "no-such", "blackhole", "black-hole"];
    words.iter().any(|word| name.contains(word))
}

/// The Gateways and Services to which a route belongs.
fn parents_of<'a>(route: &Applied<'a>) -> Vec<Reference<'a>> {
    let object: &'a Object = route.object;
    let all = object.node.at_keys(&["spec", "parentRefs"]).map_or(&[][..], Node::items).iter();
    all.filter_map(|parent| of_route(route, parent, GATEWAY, "Gateway")).collect()
}

/// The Services to which the rules of a route send traffic.
fn route_backends<'a>(route: &Applied<'a>) -> Vec<Reference<'a>> {
    let object: &'a Object = route.object;
    backends_of_route(object).filter_map(|backend| of_route(route, backend, "", "Service")).collect()
}

/// The reference of a route to a Gateway or a Service; `None` for other kinds.
fn of_route<'a>(route: &Applied<'a>, node: &'a Node, group: &'a str, kind: &'a str) -> Option<Reference<'a>> {
    let group = node.get("group").and_then(Node::text).unwrap_or(group);
    let kind = text_of(node, "kind").unwrap_or(kind);
    let is_known = matches!((group, kind), (GATEWAY, "Gateway") | ("", "Service"));
    let namespace = text_of(node, "namespace").or(route.namespace()).filter(|_| is_known)?;
    reference(node.get("name")?, group, kind, namespace)
}

/// The Secrets with the certificates of an Ingress, unless a controller that reads its annotations creates them.
fn tls_secrets<'a>(ingress: &Applied<'a>) -> Vec<Reference<'a>> {
    let object: &'a Object = ingress.object;
    let annotations = object.node.at_keys(&["metadata", "annotations"]).map_or(&[][..], Node::entries);
    let is_requested = annotations.iter().any(|entry| entry.key.contains("cert") || entry.key.contains("acme"));
    let Some(namespace) = ingress.namespace().filter(|_| !is_requested) else { return Vec::new() };
    let all = object.node.at_keys(&["spec", "tls"]).map_or(&[][..], Node::items).iter();
    all.filter_map(|tls| reference(tls.get("secretName")?, "", "Secret", namespace)).collect()
}

/// The target of an autoscaler.
fn scaled<'a>(autoscaler: &Applied<'a>) -> Option<Reference<'a>> {
    let object: &'a Object = autoscaler.object;
    let target = object.node.at_keys(&["spec", "scaleTargetRef"])?;
    let text = |field: &str| target.get(field).and_then(Node::text);
    let group = text("apiVersion").and_then(|version| version.split_once('/')).map_or("", |(group, _)| group);
    reference(target.get("name")?, group, text("kind")?, autoscaler.namespace()?)
}

/// The Gateway whose controller may create a workload: most controllers name the workload after the Gateway and its class.
fn gateway_of<'a>(view: &View<'a>, workload: ObjectId<'_>) -> Option<Applied<'a>> {
    let is_named_after = |gateway: &str| {
        workload.name.strip_prefix(gateway).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let is_missing = view.get(workload).is_none();
    let mut gateways = view.of_kind(GATEWAY, "Gateway").filter(|_| is_missing);
    gateways.find(|gateway| gateway.namespace() == Some(workload.namespace) && is_named_after(gateway.object.name()))
}

fn reference<'a>(name: &'a Node, group: &'a str, kind: &'a str, namespace: &'a str) -> Option<Reference<'a>> {
    let id = ObjectId { group, kind, namespace, name: name.text().filter(|name| !name.is_empty())? };
    Some(Reference { node: name, target: id })
}
