//! The objects of a FluxInstance's `sync`: the source and the Kustomization that Flux Operator generates.

use crate::base::finding::Finding;
use crate::flux::object::common_metadata::set_common_metadata;
use crate::flux::object::synthetic_node::{list, map, quoted, text};
use crate::kube::{Object, groups};
use crate::kustomize::Builder;
use crate::text::Span;
use crate::yaml::Node;

/// The patches of a FluxInstance that a build of its `sync` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SyncPatches {
    /// All patches, which reports invalid ones.
    All,
    /// The patches that may select an object of the sync. The others are known to be valid.
    Related,
}

/// Generates the patched objects of a FluxInstance's `sync`, with the findings of the patches.
///
/// Without `sync`, there are no objects.
pub(crate) fn objects_of(instance: &Object, builder: &Builder, read: SyncPatches) -> (Vec<Object>, Vec<Finding>) {
    let Some(sync) = sync_of(instance) else { return (Vec::new(), Vec::new()) };
    let objects = synced(instance);
    let place = sync.span();
    let at = |value: &str| text(value, place);
    let labels = [
        ("app.kubernetes.io/managed-by", at("flux-operator")),
        ("app.kubernetes.io/instance", namespace(instance)),
        ("app.kubernetes.io/part-of", at("flux")),
    ];
    // These annotations prevent kustomize-controller from changing the objects if the repository contains them, too.
    let annotations =
        [("kustomize.toolkit.fluxcd.io/ssa", at("Ignore")), ("kustomize.toolkit.fluxcd.io/prune", at("Disabled"))];
    let mut patches = patches(instance);
    if read == SyncPatches::Related {
        patches.retain(|patch| may_select(patch, &objects));
    }
    let transformed = map(
        vec![
            ("patches", list(patches, place)),
            ("labels", list(vec![map(vec![("pairs", map(labels.to_vec(), place))], place)], place)),
            ("commonAnnotations", map(annotations.to_vec(), place)),
        ],
        place,
    );
    let mut build = builder.build_over(objects, "", &transformed);
    for object in &mut build.objects {
        set_common_metadata(object, instance);
    }
    (build.objects, build.findings)
}

/// Returns whether a patch may select one of the objects. The kind of a target is a pattern.
fn may_select(patch: &Node, objects: &[Object]) -> bool {
    let kind = patch.at_keys(&["target", "kind"]).and_then(Node::text).unwrap_or_default();
    let is_literal = !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
    !is_literal || objects.iter().any(|object| object.kind() == kind)
}

/// The source and the Kustomization before all patches.
pub(super) fn synced(instance: &Object) -> Vec<Object> {
    let made = sync_of(instance).map(|sync| [source(instance, sync), kustomization(instance, sync)]);
    made.into_iter().flatten().map(|node| Object { node }).collect()
}

fn sync_of(instance: &Object) -> Option<&Node> {
    instance.node.at_keys(&["spec", "sync"]).filter(|sync| sync.is_map())
}

/// The name of the generated objects: `sync.name`, or the namespace.
fn name(instance: &Object, sync: &Node) -> Node {
    let own_name = sync.get("name").filter(|name| name.text().is_some_and(|text| !text.is_empty()));
    own_name.cloned().unwrap_or_else(|| namespace(instance))
}

/// The namespace in which a FluxInstance installs Flux.
pub(crate) fn namespace(instance: &Object) -> Node {
    let own_namespace = instance.node.at_keys(&["metadata", "namespace"]).filter(|node| node.text().is_some());
    own_namespace.cloned().unwrap_or_else(|| text(groups::FLUX_NAMESPACE, instance.span()))
}

fn source(instance: &Object, sync: &Node) -> Node {
    let place = sync.span();
    let field = |key: &str| sync.get(key).filter(|node| node.text().is_some_and(|text| !text.is_empty())).cloned();
    let kind = field("kind").unwrap_or_else(|| text("GitRepository", place));
    let mut spec = vec![("interval", field("interval").unwrap_or_else(|| text("1m", place)))];
    let reference = field("ref").unwrap_or_else(|| text("", place));
    let at = reference.span().clone();
    let url = field("url").unwrap_or_else(|| text("", place));
    match kind.text() {
        Some("Bucket") => spec.extend([("bucketName", reference), ("endpoint", url)]),
        Some("OCIRepository") => spec.extend([("ref", map(vec![("tag", reference)], &at)), ("url", url)]),
        _ => spec.extend([("ref", map(vec![("name", reference)], &at)), ("url", url)]),
    }
    if let Some(secret) = field("pullSecret") {
        let at = secret.span().clone();
        spec.push(("secretRef", map(vec![("name", secret)], &at)));
    }
    spec.extend(field("provider").map(|provider| ("provider", provider)));
    object(instance, sync, "source.toolkit.fluxcd.io/v1", kind, map(spec, place))
}

fn kustomization(instance: &Object, sync: &Node) -> Node {
    let place = sync.span();
    let kind = sync.get("kind").cloned().unwrap_or_else(|| text("GitRepository", place));
    let path = sync.get("path").cloned().unwrap_or_else(|| text("./", place));
    let reference = map(vec![("kind", kind), ("name", name(instance, sync))], place);
    let spec = vec![
        ("interval", text("10m0s", place)),
        ("path", path),
        ("prune", text("true", place)),
        ("sourceRef", reference),
    ];
    object(instance, sync, "kustomize.toolkit.fluxcd.io/v1", text("Kustomization", place), map(spec, place))
}

fn object(instance: &Object, sync: &Node, version: &str, kind: Node, spec: Node) -> Node {
    let place = sync.span();
    let metadata = map(vec![("name", name(instance, sync)), ("namespace", namespace(instance))], place);
    map(vec![("apiVersion", text(version, place)), ("kind", kind), ("metadata", metadata), ("spec", spec)], place)
}

/// The patches of the installation: the patches of Flux Operator for `multitenant`, then the user's patches.
pub(crate) fn patches(instance: &Object) -> Vec<Node> {
    let mut patches = Vec::new();
    let multitenant = instance.node.at_keys(&["spec", "cluster", "multitenant"]);
    if let Some(field) = multitenant.filter(|field| field.text() == Some("true")) {
        let account = instance.text_at(&["spec", "cluster", "tenantDefaultServiceAccount"]);
        patches.extend(lockdown(account.filter(|account| !account.is_empty()).unwrap_or("default"), field.span()));
    }
    let own = instance.node.at_keys(&["spec", "kustomize", "patches"]).map_or(&[][..], Node::items);
    patches.extend(own.iter().cloned());
    patches
}

/// The patches of Flux Operator for `multitenant: true`. The sync uses the controller's own service account, which
/// tenants must not use.
///
/// Source: `internal/builder/profiles.go` of Flux Operator, which renders these patches before the user's patches.
fn lockdown(account: &str, place: &Span) -> Vec<Node> {
    let patch = |kind: &str, name: &str, path: &str, value: &str| {
        let mut target = vec![("kind", text(kind, place))];
        target.extend((!name.is_empty()).then(|| ("name", text(name, place))));
        let operations = serde_json::json!([{"op": "add", "path": path, "value": value}]).to_string();
        map(vec![("target", map(target, place)), ("patch", quoted(&operations, place))], place)
    };
    let argument =
        |name: &str, value: &str| patch("Deployment", name, "/spec/template/spec/containers/0/args/-", value);
    let all_but_source = "(kustomize-controller|helm-controller|notification-controller|image-reflector-controller|\
                          image-automation-controller|source-watcher)";
    vec![
        argument(all_but_source, "--no-cross-namespace-refs=true"),
        argument("kustomize-controller", "--no-remote-bases=true"),
        argument("(kustomize-controller|helm-controller)", &format!("--default-service-account={account}")),
        patch("Kustomization", "", "/spec/serviceAccountName", "kustomize-controller"),
    ]
}
