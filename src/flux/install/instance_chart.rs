//! The chart `flux-instance`, which creates a FluxInstance from its values.

use crate::flux::object::synthetic_node::{map, text};
use crate::kube::Object;
use crate::text::Span;
use crate::yaml::Node;

/// The `sync` in the values of a release; `None` if the chart creates no root.
pub(super) fn sync_of(release: &Object) -> Option<&Node> {
    release.node.at_keys(&["spec", "values", "instance", "sync"]).filter(|sync| sync.get("path").is_some())
}

/// The FluxInstance that the chart creates from the values of a release. Its namespace is missing if no file states the
/// namespace of the release.
pub(super) fn instance_of(release: &Object) -> Option<Object> {
    let spec = release.node.at_keys(&["spec", "values", "instance"])?;
    let namespace = release.node.at_keys(&["spec", "targetNamespace"]);
    let namespace = namespace.or_else(|| release.node.at_keys(&["metadata", "namespace"]));
    Some(instance(spec, namespace.cloned()))
}

/// The FluxInstance that the chart creates from the value `instance`. Its namespace is missing if it is unknown.
pub(crate) fn instance(spec: &Node, namespace: Option<Node>) -> Object {
    let place = spec.span();
    let mut metadata = vec![("name", text("flux", place))];
    metadata.extend(namespace.map(|namespace| ("namespace", namespace)));
    let metadata = map(metadata, place);
    let version = text("fluxcd.controlplane.io/v1", place);
    let kind = text("FluxInstance", place);
    let spec = with_defaults(spec, place);
    Object { node: map(vec![("apiVersion", version), ("kind", kind), ("metadata", metadata), ("spec", spec)], place) }
}

/// The spec of a FluxInstance, with the chart's default version and artifact if the values do not set them.
///
/// Source: `charts/flux-instance/values.yaml` of `github.com/controlplaneio-fluxcd/charts`.
fn with_defaults(spec: &Node, place: &Span) -> Node {
    let defaults =
        [("version", "2.x"), ("artifact", "oci://ghcr.io/controlplaneio-fluxcd/flux-operator-manifests:latest")];
    let known = spec.get("distribution").filter(|distribution| distribution.is_map());
    let is_missing = |field: &str| known.is_none_or(|known| known.get(field).is_none());
    let missing = defaults.into_iter().filter(|(field, _)| is_missing(field));
    let missing = map(missing.map(|(field, value)| (field, text(value, place))).collect(), place);
    let distribution = known.map_or(missing.clone(), |known| {
        missing.entries().iter().fold(known.clone(), |known, entry| known.with(entry.clone()))
    });
    match map(vec![("distribution", distribution)], place).entries() {
        [distribution] => spec.with(distribution.clone()),
        _ => spec.clone(),
    }
}
