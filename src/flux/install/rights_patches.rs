//! The patches of a FluxInstance that change the rights of Flux's own roles and bindings.

use super::manifests::{all_objects, roles};
use crate::flux::object::synthetic_node::{list, map};
use crate::kube::{Object, groups};
use crate::kustomize::{Builder, Files};
use crate::text::File;
use crate::yaml::{Node, Style, Value, parse};

/// The fields of a role or binding that determine rights. A label may aggregate a role.
const RIGHTS: [&str; 4] = ["aggregationRule", "roleRef", "rules", "subjects"];
/// The fields with which a JSON patch makes a role or binding of another object.
const KINDS: [&str; 2] = ["apiVersion", "kind"];

/// The part of an object that a patch changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Other,
    /// The rights, if the object is a role or binding.
    Rights,
    /// The kind of the object.
    Kind,
}

/// The patches of a FluxInstance that may change the rights that Flux's own roles and bindings give.
pub fn rights_patches(instance: &Object) -> impl Iterator<Item = &Node> {
    let patches = instance.node.at_keys(&["spec", "kustomize", "patches"]).map_or(&[][..], Node::items);
    patches.iter().filter(|patch| match change_of(patch) {
        Change::Other => false,
        Change::Rights => selects(patch, || roles(instance)),
        Change::Kind => selects(patch, || all_objects(instance)),
    })
}

/// The change of a patch. A patch that only the cluster knows may change anything.
fn change_of(patch: &Node) -> Change {
    let Some(text) = patch.get("patch") else { return Change::Other };
    if is_unknown(text) {
        return Change::Kind;
    }
    let parsed = parse(&File::new("", text.text().unwrap_or_default()));
    let of_documents = parsed.documents.iter().map(|document| match &document.node.value {
        Value::Seq(_) => document.node.items().iter().map(of_operation).max().unwrap_or(Change::Other),
        Value::Map(_) => of_merge(&document.node),
        Value::Scalar(..) => Change::Other,
    });
    of_documents.max().unwrap_or(Change::Other)
}

/// The change of an operation of a JSON patch.
fn of_operation(operation: &Node) -> Change {
    let mut fields = operation.get("path").and_then(Node::text).unwrap_or_default().split('/').skip(1);
    match (fields.next().unwrap_or_default(), fields.next()) {
        ("", _) => Change::Kind,
        (field, _) if KINDS.contains(&field) => Change::Kind,
        (field, _) if RIGHTS.contains(&field) => Change::Rights,
        ("metadata", None | Some("labels")) => Change::Rights,
        _ => Change::Other,
    }
}

/// The change of a strategic merge patch. Kustomize keeps the kind of the object.
fn of_merge(patch: &Node) -> Change {
    let changes = RIGHTS.iter().chain(&["$patch"]).any(|field| patch.get(field).is_some());
    let labels = patch.at_keys(&["metadata", "labels"]).is_some();
    if changes || labels { Change::Rights } else { Change::Other }
}

/// Returns whether a patch selects one of the objects. Without a target, it selects the object that it names.
fn selects(patch: &Node, objects: impl Fn() -> Vec<Object>) -> bool {
    let Some(target) = patch.get("target") else {
        let parsed = parse(&File::new("", patch.get("patch").and_then(Node::text).unwrap_or_default()));
        let versions = parsed.documents.iter().filter_map(|document| document.node.get("apiVersion")?.text());
        return versions.into_iter().any(|version| version.split('/').next() == Some(groups::RBAC));
    };
    if target.entries().iter().any(|entry| is_unknown(&entry.node)) {
        return true;
    }
    let kustomization = map(vec![("patches", list(vec![patch.clone()], patch.span()))], patch.span());
    let targets = Builder::new(Files::default()).patch_targets_over(objects(), &kustomization);
    targets.iter().any(|target| target.is_matched)
}

fn is_unknown(node: &Node) -> bool {
    matches!(node.value, Value::Scalar(_, Style::Unknown))
}
