use crate::finding::{Finding, Label, did_you_mean};
use crate::flux::Applied;
use crate::lint::rule::declare;
use crate::lint::{Check, Found, Presence, View};
use crate::yaml::Node;

declare! {
    /// `serviceAccountName` of a Flux object names an account that nothing makes in that namespace.
    ///
    /// ## Why
    ///
    /// Flux acts as that account, and an account that nobody made has no rights unless something binds its name: what it
    /// applies is refused. A source or an image repository that takes its credentials from the account fails as well.
    ///
    /// Accounts of Flux's own installation and of Flux Operator count as made. Where a chart or something that is not
    /// built may make it, nothing is claimed. Silent with `kubeConfig`: the account is one of the other cluster.
    ///
    /// ## How to fix it
    ///
    /// Add the ServiceAccount to that namespace, or correct the name. An account of another namespace cannot be named.
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
    ///     name: flux-system
    ///     namespace: flux-system
    /// # /backend/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: backend
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
    ///     name: flux-system
    ///     namespace: flux-system
    /// # /backend/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: backend
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: service account name](https://fluxcd.io/flux/components/kustomize/kustomizations/#service-account-reference)
    "unknown-service-account", Error, "a Flux object names a service account that nothing makes", Check::Cluster(check),
}

/// The kinds of Flux's objects that name an account, by group.
const KINDS: [(&str, &[&str]); 5] = [
    ("kustomize.toolkit.fluxcd.io", &["Kustomization"]),
    ("helm.toolkit.fluxcd.io", &["HelmRelease"]),
    ("fluxcd.controlplane.io", &["ResourceSet", "ResourceSetInputProvider"]),
    ("source.toolkit.fluxcd.io", &["GitRepository", "OCIRepository", "Bucket", "HelmRepository"]),
    ("image.toolkit.fluxcd.io", &["ImageRepository"]),
];

fn check(view: &View<'_>, found: &mut Found) {
    if !view.is_whole() || view.receiver.target.is_some() {
        return;
    }
    for (group, kinds) in KINDS {
        for applied in kinds.iter().flat_map(|kind| view.of_kind(group, kind)) {
            judge(view, &applied, found);
        }
    }
}

fn judge(view: &View<'_>, applied: &Applied<'_>, found: &mut Found) {
    let object = applied.object;
    let field = object.node.at_keys(&["spec", "serviceAccountName"]);
    let named = field.and_then(|node| Some((node, node.text().filter(|name| !name.is_empty())?)));
    let (Some((node, name)), Some(namespace)) = (named, applied.namespace()) else { return };
    if object.node.at_keys(&["spec", "kubeConfig"]).is_some() {
        return;
    }
    match view.presence("", "ServiceAccount", namespace, name) {
        Presence::Missing => found.push(finding(view, applied, node, namespace, name)),
        Presence::Unknown(_) => found.unchecked("service accounts that charts, or what is not built, may make"),
        Presence::Received(_) | Presence::Made(_) | Presence::Given => {}
    }
}

fn finding(view: &View<'_>, applied: &Applied<'_>, node: &Node, namespace: &str, name: &str) -> Finding {
    let object = applied.object;
    let at = Label::new(applied.by.place(node.span()), "nothing makes it");
    let message = format!("{} names ServiceAccount `{namespace}/{name}`, which nothing makes", object.reference());
    let accounts: Vec<Applied<'_>> = view.of_kind("", "ServiceAccount").collect();
    let near = accounts.iter().filter(|account| account.namespace() == Some(namespace));
    let near: Vec<&str> = near.map(|account| account.object.name()).collect();
    let elsewhere = accounts.iter().find(|account| account.object.name() == name);
    let help = match (did_you_mean(name, near), elsewhere) {
        (Some(meant), _) => format!("did you mean `{meant}`?"),
        (None, Some(other)) => {
            format!("{} is in another namespace, and Flux takes those of the object's own", other.object.reference())
        }
        (None, None) => format!("add the ServiceAccount to namespace `{namespace}`, or correct the name"),
    };
    Finding::error(RULE.id, at, message).help(help).about(object.reference())
}
