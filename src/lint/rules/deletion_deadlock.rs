use std::collections::BTreeSet;

use crate::base::finding::{Finding, Label};
use crate::flux::{Applied, Applier, ApplierKind};
use crate::lint::facts::own_position::own_position;
use crate::lint::facts::ownership_settings::{OwnershipSettings, prunes};
use crate::lint::findings::Findings;
use crate::lint::order::applier_tree::ApplierTree;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::text::Index;
use crate::yaml::Node;

declare! {
    /// A Kustomization for a remote cluster is pruned together with the kubeconfig that its deletion needs.
    ///
    /// ## Why
    ///
    /// When a Kustomization is deleted, Flux deletes the objects that the Kustomization applied. For that, Flux must
    /// connect to the remote cluster. If a commit removes the whole cluster from the repository, Flux deletes the
    /// Secret with the kubeconfig at the same time, since `dependsOn` does not define an order of deletion. Without the
    /// Secret, the deletion fails, and Flux retries it indefinitely. The Kustomization remains, and so does each object
    /// that waits for its deletion.
    ///
    /// The rule recognizes these origins of a kubeconfig:
    ///
    /// - A Secret in the repository.
    /// - An ExternalSecret, a SealedSecret, or the field `writeConnectionSecretToRef` of a Crossplane object.
    /// - Cluster API, Kamaji or k0smotron, according to the name of the Secret.
    ///
    /// ## How to fix it
    ///
    /// Set `spec.deletionPolicy: Orphan` in the Kustomization, since its objects disappear together with the cluster.
    /// Or exclude the Secret from pruning with `kustomize.toolkit.fluxcd.io/prune: disabled`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: cluster.x-k8s.io/v1beta1
    /// kind: Cluster
    /// metadata:
    ///   name: spoke
    ///   namespace: flux-system
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: spoke
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   kubeConfig:
    ///     secretRef:
    ///       name: spoke-kubeconfig
    ///   path: ./spoke
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: cluster.x-k8s.io/v1beta1
    /// kind: Cluster
    /// metadata:
    ///   name: spoke
    ///   namespace: flux-system
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: spoke
    ///   namespace: flux-system
    /// spec:
    ///   deletionPolicy: Orphan
    ///   interval: 1h
    ///   kubeConfig:
    ///     secretRef:
    ///       name: spoke-kubeconfig
    ///   path: ./spoke
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. `deletionPolicy` exists from Flux 2.5 on. For older versions, the help of the finding
    /// suggests another fix.
    ///
    /// ## Source
    ///
    /// [Flux: deletion policy](https://fluxcd.io/flux/components/kustomize/kustomizations/#deletion-policy)
    "deletion-deadlock", Warning, "a Kustomization is pruned together with the kubeconfig that its deletion needs",
    Check::Cluster(check),
}

/// The kinds that create a kubeconfig in a Secret with the object's name and a suffix: group, kind and suffix.
const NAMED_AFTER: &[(&str, &str, &str)] = &[
    ("cluster.x-k8s.io", "Cluster", "-kubeconfig"),
    ("k0smotron.io", "Cluster", "-kubeconfig"),
    ("kamaji.clastix.io", "TenantControlPlane", "-admin-kubeconfig"),
];

fn check(view: &View<'_>, found: &mut Findings) {
    if view.receiver.target.is_some() || !view.is_whole() {
        return;
    }
    let appliers = &view.receiver.cluster.appliers;
    let remote = appliers.iter().filter(|applier| applier.target.is_some() && deletes(applier));
    let mut remote = remote.peekable();
    if remote.peek().is_none() {
        return;
    }
    let (connections, tree) = (connections(view), ApplierTree::when_running(view));
    for applier in remote {
        let Some(config) = config_of(applier) else { continue };
        let namespace = applier.reference.namespace.as_deref().unwrap_or_default();
        let Some(maker) = maker_of(view, &connections, config, namespace) else { continue };
        if goes_together(view, &tree, applier, &maker) {
            found.push(finding(applier, config, &maker, remedy(view)));
        }
    }
}

/// Returns whether Flux deletes the objects of an applier when the applier is deleted.
fn deletes(applier: &Applier) -> bool {
    let Some(object) = applier.object.as_ref().filter(|_| applier.kind == ApplierKind::Kustomization) else {
        return false;
    };
    let policy = object.text_at(&["spec", "deletionPolicy"]).unwrap_or("MirrorPrune");
    let deletes = match policy {
        "Delete" | "WaitForTermination" => true,
        "MirrorPrune" => prunes(applier),
        _ => false,
    };
    deletes && !applier.is_suspended()
}

/// The kind and name of the Secret or ConfigMap with the connection to the remote cluster.
fn config_of(applier: &Applier) -> Option<(&'static str, &Node)> {
    let config = applier.object.as_ref()?.node.at_keys(&["spec", "kubeConfig"])?;
    let secret = config.at_keys(&["secretRef", "name"]).map(|name| ("Secret", name));
    secret.or_else(|| config.at_keys(&["configMapRef", "name"]).map(|name| ("ConfigMap", name)))
}

/// The objects that write connection details to a Secret, by namespace and name of the Secret.
fn connections<'a>(view: &View<'a>) -> Index<(&'a str, &'a str), Applied<'a>> {
    let mut found = Index::default();
    for applied in view.objects() {
        let Some(secret) = applied.object.node.at_keys(&["spec", "writeConnectionSecretToRef"]) else { continue };
        let text = |key: &str| secret.get(key).and_then(Node::text);
        let namespace = text("namespace").or(applied.object.namespace()).unwrap_or_default();
        if let Some(name) = text("name") {
            found.insert((namespace, name), applied);
        }
    }
    found
}

/// The object that contains or creates the kubeconfig.
fn maker_of<'a>(
    view: &View<'a>,
    connections: &Index<(&'a str, &'a str), Applied<'a>>,
    (kind, name): (&str, &'a Node),
    namespace: &'a str,
) -> Option<Applied<'a>> {
    let name = name.text()?;
    match view.presence("", kind, namespace, name) {
        Presence::Received(applied) => return Some(applied),
        Presence::Produced(produced) => {
            let by = produced.by?;
            let group = by.api_version.split_once('/').map_or("", |(group, _)| group);
            return view.find(group, &by.kind, by.namespace.as_deref().unwrap_or_default(), &by.name);
        }
        Presence::BuiltIn | Presence::Unknown(_) | Presence::Missing => {}
    }
    connections.get(&(namespace, name)).copied().or_else(|| {
        let mut named = NAMED_AFTER.iter();
        named.find_map(|(group, kind, suffix)| view.find(group, kind, namespace, name.strip_suffix(suffix)?))
    })
}

/// Returns whether one prune deletes both an applier and the maker of its kubeconfig.
///
/// A common ancestor must apply both, directly or indirectly. The ancestor and each applier between it and the maker
/// must prune.
fn goes_together(view: &View<'_>, tree: &ApplierTree, applier: &Applier, maker: &Applied<'_>) -> bool {
    if OwnershipSettings::read(maker.object, maker.by.kind).is_not_pruned {
        return false;
    }
    let above: BTreeSet<usize> = tree.lineage(applier.at).skip(1).collect();
    for one in tree.lineage(maker.by.at).filter_map(|at| view.receiver.cluster.appliers.get(at)) {
        if !prunes(one) || one.is_suspended() {
            return false;
        }
        if above.contains(&one.at) {
            return true;
        }
    }
    false
}

/// The first release of Flux whose Kustomizations have the field `deletionPolicy`.
const DELETION_POLICY_SINCE: (u64, u64) = (2, 5);

/// The fix that the cluster's version of Flux supports, as help for a finding.
fn remedy(view: &View<'_>) -> &'static str {
    match view.has_flux(DELETION_POLICY_SINCE) {
        Some(false) => {
            "suspend the Kustomization before you remove it, so that Flux does not delete its objects: without the \
             kubeconfig, the deletion fails, and Flux retries it indefinitely"
        }
        Some(true) => {
            "set `spec.deletionPolicy: Orphan`: without the kubeconfig, the deletion fails, and Flux retries it \
             indefinitely"
        }
        None => {
            "set `spec.deletionPolicy: Orphan` (since Flux 2.5): without the kubeconfig, the deletion fails, and Flux \
             retries it indefinitely"
        }
    }
}

fn finding(applier: &Applier, (kind, name): (&str, &Node), maker: &Applied<'_>, help: &str) -> Finding {
    let place = own_position(applier, name.span());
    let config = format!("the {kind} `{}` that Flux needs to delete", name.text().unwrap_or_default());
    let message = format!("{} is pruned together with {config} its objects", applier.reference);
    let summary = format!(" Kustomizations are pruned together with {config} their objects");
    Finding::warning(RULE.id, Label::new(place, "needed for the deletion"), message)
        .related(
            maker.by.place(maker.object.span()),
            format!("{} is deleted at the same time", maker.object.reference()),
        )
        .help(help)
        .about(applier.reference.clone())
        .caused_by(format!("{} {kind}", maker.object.reference()), "", summary)
}
