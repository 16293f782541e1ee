use crate::base::finding::{Finding, Label};
use crate::flux::Applied;
use crate::lint::findings::Findings;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::text::Index;
use crate::yaml::{Name, Node};

declare! {
    /// An object's namespace is made by nothing that the cluster receives.
    ///
    /// ## Why
    ///
    /// The API server refuses an object whose namespace does not exist, and Flux applies nothing of a Kustomization of
    /// which one object is refused. It works as long as somebody made the namespace by hand, until the next cluster.
    ///
    /// Silent about Kubernetes' own namespaces and those of the usual platforms, where a HelmRelease that stands elsewhere
    /// has `createNamespace`, where a policy, a request for a namespace or an object that holds one makes it, where a
    /// chart is called like the namespace and may bring it, where something that may bring it could not be built, and
    /// about other clusters that are reached by `kubeConfig`, which have more than this one sends.
    ///
    /// ## How to fix it
    ///
    /// Add the Namespace to what the cluster receives: to the same Kustomization, or to one that it depends on. Or
    /// correct the name.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: apps
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: apps
    /// ---
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: apps
    /// ```
    ///
    /// ## Source
    ///
    /// [Kubernetes: namespaces](https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/)
    "missing-namespace", Warning, "an object's namespace is made by nothing that the cluster receives",
    Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    if !view.is_whole() || view.receiver.target.is_some() {
        return;
    }
    let mut judged: Index<Name, ()> = Index::default();
    for (namespace, applied) in view.namespaces() {
        if judged.insert(namespace.clone(), ()).is_some() || is_platforms(namespace) {
            continue;
        }
        match view.namespace(namespace) {
            Presence::Missing => found.push(finding(namespace, &applied)),
            Presence::Unknown(_) => found.unchecked("namespaces that charts, or what is not built, may make"),
            Presence::Received(_) | Presence::Produced(_) | Presence::BuiltIn => {}
        }
    }
}

/// Namespaces that the platform makes, by how they begin.
fn is_platforms(namespace: &str) -> bool {
    let begins = ["kube-", "openshift", "gke-", "gmp-", "amazon-", "aks-", "calico-", "tigera-", "cattle-"];
    begins.iter().any(|begin| namespace.starts_with(begin))
}

fn finding(namespace: &str, applied: &Applied<'_>) -> Finding {
    let object = applied.object;
    let node = object.node.at_keys(&["metadata", "namespace"]);
    let place = applied.by.place(node.map_or(object.span(), Node::span));
    let message =
        format!("namespace `{namespace}` of {} is made by nothing that the cluster receives", object.reference());
    let help = format!(
        "add a Namespace `{namespace}` to what the cluster receives, or correct the name: without it, {} fails",
        applied.by.reference
    );
    Finding::warning(RULE.id, Label::new(place, "nothing makes it"), message).help(help).about(object.reference())
}
