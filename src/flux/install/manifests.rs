//! An outline of the objects that Flux Operator builds for a FluxInstance from the manifests of Flux. Patches select
//! these objects by kind, name and labels.
//!
//! Source: the manifests of Flux 2.2 to 2.9 and the kustomizations in Flux Operator's `internal/builder`.

use super::deployments::{controller, labels};
use super::installation::{CONTROLLERS, DEFAULT_CONTROLLERS};
use super::sync::{namespace, patches, synced};
use crate::flux::object::synthetic_node::{entry, list, map, text};
use crate::kube::{Object, groups};
use crate::kustomize::{Builder, PatchTarget};
use crate::text::Span;
use crate::yaml::Node;

/// The CustomResourceDefinitions of each component.
const DEFINITIONS: [(&str, &str); 15] = [
    ("source-controller", "buckets.source.toolkit.fluxcd.io"),
    ("source-controller", "externalartifacts.source.toolkit.fluxcd.io"),
    ("source-controller", "gitrepositories.source.toolkit.fluxcd.io"),
    ("source-controller", "helmcharts.source.toolkit.fluxcd.io"),
    ("source-controller", "helmrepositories.source.toolkit.fluxcd.io"),
    ("source-controller", "ocirepositories.source.toolkit.fluxcd.io"),
    ("kustomize-controller", "kustomizations.kustomize.toolkit.fluxcd.io"),
    ("helm-controller", "helmreleases.helm.toolkit.fluxcd.io"),
    ("notification-controller", "alerts.notification.toolkit.fluxcd.io"),
    ("notification-controller", "providers.notification.toolkit.fluxcd.io"),
    ("notification-controller", "receivers.notification.toolkit.fluxcd.io"),
    ("image-reflector-controller", "imagepolicies.image.toolkit.fluxcd.io"),
    ("image-reflector-controller", "imagerepositories.image.toolkit.fluxcd.io"),
    ("image-automation-controller", "imageupdateautomations.image.toolkit.fluxcd.io"),
    ("source-watcher", "artifactgenerators.source.extensions.fluxcd.io"),
];

/// The Services of components.
const SERVICES: [(&str, &str); 4] = [
    ("source-controller", "source-controller"),
    ("notification-controller", "notification-controller"),
    ("notification-controller", "webhook-receiver"),
    ("source-watcher", "source-watcher"),
];

/// The roles, bindings and quotas, by API version and kind. Flux Operator appends the namespace to their names.
const ROLES: [(&str, &str, &str); 6] = [
    ("rbac.authorization.k8s.io/v1", "ClusterRole", "crd-controller"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", "flux-edit"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", "flux-view"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "cluster-reconciler"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "crd-controller"),
    ("v1", "ResourceQuota", "critical-pods"),
];

/// The kinds of the objects that Flux Operator creates for `sync`.
const SYNC_KINDS: [&str; 4] = ["Bucket", "GitRepository", "Kustomization", "OCIRepository"];

const POLICIES: [&str; 3] = ["allow-egress", "allow-scraping", "allow-webhooks"];

/// The patches of a FluxInstance that have a target, and whether each target selects one of Flux's own objects.
///
/// The list is empty if a value that determines the objects is unknown.
pub(crate) fn patch_targets(instance: &Object, builder: &Builder) -> Vec<PatchTarget> {
    let own = instance.node.at_keys(&["spec", "kustomize", "patches"]).filter(|own| !own.items().is_empty());
    let Some((own, objects)) = own.and_then(|own| Some((own, outline(instance)?))) else { return Vec::new() };
    let kustomization = map(vec![("patches", list(patches(instance), own.span()))], own.span());
    let mut found = builder.patch_targets_over(objects, &kustomization);
    // Flux Operator adds patches, too. The result contains only the patches of the user.
    let written =
        |place: &Span| own.items().iter().any(|patch| patch.get("target").is_some_and(|it| it.span() == place));
    found.retain(|target| written(&target.place) && !target.selector.contains("${"));
    // Another manager of the fields of the object may set `sync`, such as the tool that creates the cluster.
    if instance.node.at_keys(&["spec", "sync"]).is_none() {
        let kind = |patch: &Node| patch.get("target")?.get("kind")?.text().map(ToOwned::to_owned);
        let of_sync = own.items().iter().filter(|patch| kind(patch).is_some_and(|kind| SYNC_KINDS.contains(&&*kind)));
        let of_sync: Vec<&Span> = of_sync.filter_map(|patch| Some(patch.get("target")?.span())).collect();
        found.retain(|target| !of_sync.contains(&&target.place));
    }
    // The objects of Flux have fixed labels.
    for target in &mut found {
        target.is_opt_in = false;
    }
    found
}

/// The patches of a FluxInstance that have a target, if each target selects an object.
pub(crate) fn matched_targets(instance: &Object) -> Vec<PatchTarget> {
    let own = instance.node.at_keys(&["spec", "kustomize", "patches"]).map_or(&[][..], Node::items);
    let targets = own.iter().filter_map(|patch| patch.get("target"));
    targets.map(PatchTarget::matched).collect()
}

/// The roles and bindings that Flux Operator creates for a FluxInstance, before the patches.
pub(super) fn roles(instance: &Object) -> Vec<Object> {
    let is_of_rights = |object: &Object| object.group() == groups::RBAC;
    roles_and_quotas(namespace(instance).text().unwrap_or(groups::FLUX_NAMESPACE), instance.span())
        .filter(is_of_rights)
        .collect()
}

/// The objects that Flux Operator creates for a FluxInstance, before the patches. If the components are unknown, only the roles
/// and bindings are known.
pub(super) fn all_objects(instance: &Object) -> Vec<Object> {
    outline(instance).unwrap_or_else(|| roles(instance))
}

/// The names of the components of a FluxInstance, as written; the default components if the FluxInstance lists none.
pub fn components(instance: &Object) -> Vec<&str> {
    let listed = instance.node.at_keys(&["spec", "components"]).map_or(&[][..], Node::items);
    if listed.is_empty() { DEFAULT_CONTROLLERS.to_vec() } else { listed.iter().filter_map(Node::text).collect() }
}

/// The objects that Flux Operator creates for a FluxInstance, before the patches; `None` if the objects are unknown.
fn outline(instance: &Object) -> Option<Vec<Object>> {
    let components = components(instance);
    if components.iter().any(|name| !CONTROLLERS.contains(name)) {
        return None;
    }
    let place = instance.span();
    let namespace = namespace(instance);
    let home = namespace.text()?;
    let text_at = |keys: &[&str]| instance.text_at(keys).unwrap_or_default();
    let items_at = |keys: &[&str]| instance.node.at_keys(keys).map_or(&[][..], Node::items);
    let plain = |version: &str, kind: &str, name: &str| object(version, kind, name, None, place);
    let mut objects = vec![plain("v1", "Namespace", home)];
    if text_at(&["spec", "cluster", "networkPolicy"]) != "false" {
        objects.extend(POLICIES.iter().map(|name| plain("networking.k8s.io/v1", "NetworkPolicy", name)));
    }
    objects.extend(roles_and_quotas(home, place));
    let suffixes: Vec<String> = items_at(&["spec", "sharding", "shards"])
        .iter()
        .map(|shard| shard.text().map(|name| format!("-{name}")))
        .collect::<Option<_>>()?;
    for component in &components {
        let part = |version: &str, kind: &str, name: &str| object(version, kind, name, Some(component), place);
        objects.push(part("v1", "ServiceAccount", component));
        let definitions = DEFINITIONS.iter().filter(|(of, _)| of == component);
        objects.extend(definitions.map(|(_, name)| part("apiextensions.k8s.io/v1", "CustomResourceDefinition", name)));
        let services = SERVICES.iter().filter(|(of, _)| of == component).map(|(_, name)| part("v1", "Service", name));
        let workloads: Vec<Object> = services.chain([controller(component, None, place)]).collect();
        // Flux Operator does not shard notification-controller.
        let suffixes = suffixes.iter().filter(|_| *component != "notification-controller");
        let shards = suffixes.flat_map(|suffix| workloads.iter().map(move |object| shard_of(object, suffix)));
        objects.extend(shards);
        objects.extend(workloads.iter().cloned());
    }
    if instance.node.at_keys(&["spec", "storage"]).is_some_and(Node::is_map) {
        let suffixes = suffixes.iter().map(String::as_str);
        let claims = std::iter::once("").chain(suffixes).map(|suffix| format!("source-controller{suffix}"));
        objects.extend(claims.map(|name| plain("v1", "PersistentVolumeClaim", &name)));
    }
    objects.extend(synced(instance));
    Some(objects)
}

/// The objects of [`ROLES`]. A target selects an object by its name with or without the suffix.
fn roles_and_quotas(home: &str, place: &Span) -> impl Iterator<Item = Object> {
    ROLES.iter().flat_map(move |(version, kind, name)| {
        [(*name).to_owned(), format!("{name}-{home}")].map(|name| object(version, kind, &name, None, place))
    })
}

fn object(version: &str, kind: &str, name: &str, component: Option<&str>, place: &Span) -> Object {
    let mut metadata = vec![("name", text(name, place))];
    metadata.extend(component.map(|component| ("labels", labels(component, place))));
    let entries =
        vec![("apiVersion", text(version, place)), ("kind", text(kind, place)), ("metadata", map(metadata, place))];
    Object { node: map(entries, place) }
}

/// The copy of an object for a shard.
fn shard_of(object: &Object, suffix: &str) -> Object {
    let place = object.span();
    let Some(metadata) = object.node.get("metadata") else { return object.clone() };
    let annotations = map(vec![("sharding.fluxcd.io/role", text("shard", place))], place);
    let name = entry("name", text(&format!("{}{suffix}", object.name()), place));
    let metadata = metadata.with(name).with(entry("annotations", annotations));
    Object { node: object.node.with(entry("metadata", metadata)) }
}
