use crate::base::finding::Finding;
use crate::kube::{ObjectId, groups};
use crate::lint::facts::unknown_sources::{Producer, UnknownSource};
use crate::lint::findings::Findings;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::presence::own_inputs::unknown_producer;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::Node;

declare! {
    /// The service account that Flux impersonates is not defined in the namespace of the object.
    ///
    /// ## Why
    ///
    /// Flux uses the account with this name in the namespace of the object. A missing account does not have
    /// permissions, so Flux does not apply any object. If a user deletes a Kustomization, the objects that it applied
    /// remain, because Flux skips their deletion without the account. Sources, image repositories and providers cannot
    /// use the credentials of the account.
    ///
    /// The rule ignores the accounts of Kubernetes, Flux and Flux Operator. It also ignores an account that a chart, a
    /// policy or an unbuilt input may create. With `kubeConfig`, the account belongs to the remote cluster, so the rule
    /// also ignores it.
    ///
    /// ## How to fix it
    ///
    /// Correct the name, or add the ServiceAccount and its RoleBinding to the objects that the cluster receives.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ServiceAccount
    /// metadata:
    ///   name: flux
    ///   namespace: backend
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: backend
    ///   namespace: backend
    /// spec:
    ///   interval: 1h
    ///   path: ./backend
    ///   prune: true
    ///   serviceAccountName: fluxx
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: apps
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ServiceAccount
    /// metadata:
    ///   name: flux
    ///   namespace: backend
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: backend
    ///   namespace: backend
    /// spec:
    ///   interval: 1h
    ///   path: ./backend
    ///   prune: true
    ///   serviceAccountName: flux
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: apps
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: role-based access control](https://fluxcd.io/flux/components/kustomize/kustomizations/#role-based-access-control),
    /// [fluxcd/pkg: impersonation](https://github.com/fluxcd/pkg/blob/main/runtime/client/impersonator.go)
    "unknown-service-account", Error, "the service account that Flux impersonates is not defined",
    Check::Cluster(check),
}

/// The kinds that reference an account of their own namespace, with the path of the reference.
const NAMING: [(&str, &str, &[&str]); 10] = [
    (groups::KUSTOMIZE, "Kustomization", &["spec", "serviceAccountName"]),
    (groups::KUSTOMIZE, "Kustomization", &["spec", "decryption", "serviceAccountName"]),
    (groups::HELM, "HelmRelease", &["spec", "serviceAccountName"]),
    (groups::FLUX_OPERATOR, "ResourceSet", &["spec", "serviceAccountName"]),
    (groups::FLUX_OPERATOR, "ResourceSetInputProvider", &["spec", "serviceAccountName"]),
    (groups::SOURCE, "GitRepository", &["spec", "serviceAccountName"]),
    (groups::SOURCE, "OCIRepository", &["spec", "serviceAccountName"]),
    (groups::SOURCE, "Bucket", &["spec", "serviceAccountName"]),
    (groups::IMAGE, "ImageRepository", &["spec", "serviceAccountName"]),
    (groups::NOTIFICATION, "Provider", &["spec", "serviceAccountName"]),
];

fn check(view: &View<'_>, found: &mut Findings) {
    // A remote cluster also receives the objects of its own Flux.
    if !view.is_whole() || view.receiver.target.is_some() {
        return;
    }
    for (group, kind, path) in NAMING {
        for applied in view.of_kind(group, kind) {
            let object = applied.object;
            let Some(node) = object.node.at_keys(path) else { continue };
            let Some(name) = node.text().filter(|name| !name.is_empty() && !name.contains('$')) else { continue };
            let Some(namespace) = applied.namespace() else { continue };
            // With `kubeConfig`, only the account that applies objects belongs to the remote cluster. Flux fetches the
            // decryption key on this cluster.
            let acts = path == ["spec", "serviceAccountName"];
            let is_remote = acts && object.node.at_keys(&["spec", "kubeConfig"]).is_some_and(Node::is_map);
            let id = ObjectId { group: "", kind: "ServiceAccount", namespace, name };
            let source = match view.presence(id.group, id.kind, namespace, name) {
                Presence::Received(_) | Presence::Produced(_) | Presence::BuiltIn => continue,
                _ if is_remote => continue,
                Presence::Missing => None,
                Presence::Unknown(source @ (UnknownSource::Controller(_) | UnknownSource::VariableInName)) => {
                    Some(source)
                }
                Presence::Unknown(_) => {
                    let may_create = |producer: &Producer<'_>| !is_of_other_tenant(view, producer, namespace);
                    unknown_producer(view, id, Some(object), may_create)
                }
            };
            if let Some(source) = source {
                found.unchecked(format!("{id}, which {source} may create"));
                continue;
            }
            let by = object.reference();
            let message =
                format!("{by} references ServiceAccount `{name}`, which is not defined in namespace `{namespace}`");
            let help = "correct the name, or add the account to the objects that the cluster receives: without it, \
                        Flux has no permissions";
            let finding = Finding::error(RULE.id, applied.by.place(node.span()), message).help(help);
            let place = applied.by.place(object.span());
            let summary =
                format!(" objects of namespace `{namespace}` reference ServiceAccount `{name}`, which is not defined");
            let finding = finding.caused_by(format!("{namespace}/{name}"), "", summary);
            found.push(finding.related(place, format!("this {kind}")).about(object.reference()));
        }
    }
}

/// Returns whether a producer belongs to another tenant, which cannot create accounts in the namespace.
fn is_of_other_tenant(view: &View<'_>, producer: &Producer<'_>, namespace: &str) -> bool {
    let tenant = |namespace: &str| view.tenancy().tenants.get(namespace);
    tenant(producer.home)
        .is_some_and(|own| producer.home != namespace && (own.is_none() || tenant(namespace) != Some(own)))
}
