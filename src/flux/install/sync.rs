//! What a FluxInstance makes: the source and the Kustomization of its `sync`, as Flux Operator writes them.

use crate::base::finding::Finding;
use crate::flux::object::common_metadata::set_common_metadata;
use crate::flux::object::synthetic_node::{list, map, text};
use crate::kube::Object;
use crate::kube::groups;
use crate::kustomize::Builder;
use crate::text::Span;
use crate::yaml::Node;

/// The objects of a FluxInstance's sync, its patches laid over them, and what is wrong with these.
///
/// Without a `sync` there are none.
pub(crate) fn objects_of(instance: &Object, builder: &Builder) -> (Vec<Object>, Vec<Finding>) {
    let Some(sync) = instance.node.at_keys(&["spec", "sync"]).filter(|sync| sync.is_map()) else {
        return (Vec::new(), Vec::new());
    };
    let made = vec![source(instance, sync), kustomization(instance, sync)];
    let objects: Vec<Object> = made.into_iter().map(|node| Object { node }).collect();
    let place = sync.span();
    let at = |said: &str| text(said, place);
    let labels = [
        ("app.kubernetes.io/managed-by", at("flux-operator")),
        ("app.kubernetes.io/instance", namespace(instance)),
        ("app.kubernetes.io/part-of", at("flux")),
    ];
    // So that kustomize-controller leaves them alone where they are in the repository, too.
    let annotations =
        [("kustomize.toolkit.fluxcd.io/ssa", at("Ignore")), ("kustomize.toolkit.fluxcd.io/prune", at("Disabled"))];
    let transformed = map(
        vec![
            ("patches", list(patches(instance), place)),
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

/// The name that the objects have: `sync.name`, else that of the namespace.
fn name(instance: &Object, sync: &Node) -> Node {
    let said = sync.get("name").filter(|name| name.text().is_some_and(|text| !text.is_empty()));
    said.cloned().unwrap_or_else(|| namespace(instance))
}

/// The namespace that a FluxInstance installs Flux in.
pub(crate) fn namespace(instance: &Object) -> Node {
    let said = instance.node.at_keys(&["metadata", "namespace"]).filter(|node| node.text().is_some());
    said.cloned().unwrap_or_else(|| text(groups::FLUX_NAMESPACE, instance.span()))
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

/// The patches over what the operator installs: its own for `multitenant`, then the user's.
pub(crate) fn patches(instance: &Object) -> Vec<Node> {
    let mut patches = Vec::new();
    let multitenant = instance.node.at_keys(&["spec", "cluster", "multitenant"]);
    if let Some(said) = multitenant.filter(|said| said.text() == Some("true")) {
        patches.push(lockdown(said.span()));
    }
    let said = instance.node.at_keys(&["spec", "kustomize", "patches"]).map_or(&[][..], Node::items);
    patches.extend(said.iter().cloned());
    patches
}

/// What `multitenant: true` does to the sync: it runs with the controller's own account, which tenants do not get.
fn lockdown(place: &Span) -> Node {
    let target = map(vec![("kind", text("Kustomization", place))], place);
    let patch = r#"[{"op": "add", "path": "/spec/serviceAccountName", "value": "kustomize-controller"}]"#;
    map(vec![("target", target), ("patch", crate::flux::object::synthetic_node::quoted(patch, place))], place)
}
