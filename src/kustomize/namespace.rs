//! `namespace`: which objects get it, and where else it is written.

use super::field_spec::{FieldSpec, Gvk, Make, set_text};
use super::resources::{Id, Resource};
use super::scope::is_cluster_scoped;
use crate::text::Span;
use crate::yaml::{Node, Value};

/// Puts an object into a namespace.
///
/// A Namespace is renamed instead. Subjects of role bindings named `default` follow; a webhook's or API service's
/// service does too.
pub(super) fn apply(resource: &mut Resource, key: &Span, value: &Node) {
    resource.remember();
    let id = resource.id.clone();
    let mut node = resource.node.clone();
    if !is_cluster_scoped(&id.group, &id.version, &id.kind) {
        node = set_at(&node, &id, "metadata", "namespace", true, key, value);
    }
    if &*id.kind == "Namespace" && id.group.is_empty() && &*id.version == "v1" {
        node = set_at(&node, &id, "metadata", "name", true, key, value);
    }
    if matches!(&*id.kind, "RoleBinding" | "ClusterRoleBinding") {
        node = default_subjects(&node, key, value);
    }
    if &*id.group == "apiregistration.k8s.io" && &*id.kind == "APIService" {
        node = set_at(&node, &id, "spec/service", "namespace", true, key, value);
    }
    if &*id.group == "apiextensions.k8s.io" && &*id.kind == "CustomResourceDefinition" {
        node = set_at(&node, &id, "spec/conversion/webhook/clientConfig/service", "namespace", false, key, value);
    }
    resource.replace(node);
}

fn set_at(node: &Node, id: &Id, path: &str, field: &str, create: bool, key: &Span, value: &Node) -> Node {
    let spec = FieldSpec::new(Gvk::new("", "", ""), path, create);
    debug_assert!(spec.matches(id), "a specification without group, version and kind matches everything");
    let mut set = |map: Option<&Node>| {
        Ok(map.filter(|map| create || map.get(field).is_some()).map(|map| set_text(map, field, key, value)))
    };
    spec.apply(node, Make::Map(key), &mut set).ok().flatten().unwrap_or_else(|| node.clone())
}

/// Subjects named `default` are taken for accounts of the same namespace.
fn default_subjects(node: &Node, key: &Span, value: &Node) -> Node {
    let Some(subjects) = node.entry("subjects").filter(|entry| entry.node.is_seq()) else { return node.clone() };
    let is_default = |subject: &Node| subject.get("name").and_then(Node::text) == Some("default");
    if !subjects.node.items().iter().any(is_default) {
        return node.clone();
    }
    let set = |subject: &Node| {
        if is_default(subject) { set_text(subject, "namespace", key, value) } else { subject.clone() }
    };
    let items = subjects.node.items().iter().map(set).collect();
    let list = Node { value: Value::Seq(items), origin: subjects.node.origin.clone() };
    node.with(subjects.with_node(list))
}
