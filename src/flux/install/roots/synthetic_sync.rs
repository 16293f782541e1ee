//! The source and the Kustomization of a root that the repository does not contain.

use crate::flux::object::synthetic_node::{map, text};
use crate::flux::source::reference::SourceRef;
use crate::kube::Object;
use crate::text::Span;
use crate::yaml::{Node, Style};

/// The source that `flux bootstrap` creates in a namespace.
pub(super) fn bootstrap_source(namespace: &str) -> SourceRef {
    SourceRef { kind: "GitRepository".into(), namespace: namespace.into(), name: namespace.into() }
}

/// A source, and a Kustomization that applies a path of the source. `flux bootstrap` gives both the same name.
pub(super) fn sync_of(source: &SourceRef, name: &str, path: &Node, place: &Span) -> Vec<Object> {
    vec![source_of(source, place), kustomization_of(source, name, path, place)]
}

/// A source whose address and revision are unknown.
pub(super) fn source_of(source: &SourceRef, place: &Span) -> Object {
    let unknown = || Node::scalar("", Style::Unknown, place.clone());
    let mut spec = vec![("interval", text("1m0s", place))];
    if &*source.kind == "OCIRepository" {
        spec.push(("ref", map(vec![("digest", unknown())], place)));
        spec.push(("verify", map(vec![("provider", unknown())], place)));
    }
    let spec = map(spec, place);
    object(source, &source.name, "source.toolkit.fluxcd.io/v1", &source.kind, spec, place)
}

fn kustomization_of(source: &SourceRef, name: &str, path: &Node, place: &Span) -> Object {
    let reference = map(vec![("kind", text(&source.kind, place)), ("name", text(&source.name, place))], place);
    let spec = vec![
        ("interval", text("10m0s", place)),
        ("path", path.clone()),
        ("prune", text("true", place)),
        ("sourceRef", reference),
    ];
    object(source, name, "kustomize.toolkit.fluxcd.io/v1", "Kustomization", map(spec, place), place)
}

/// An object in the namespace of a source.
fn object(source: &SourceRef, name: &str, version: &str, kind: &str, spec: Node, place: &Span) -> Object {
    let metadata = vec![("name", text(name, place)), ("namespace", text(&source.namespace, place))];
    let node = vec![
        ("apiVersion", text(version, place)),
        ("kind", text(kind, place)),
        ("metadata", map(metadata, place)),
        ("spec", spec),
    ];
    Object { node: map(node, place) }
}
