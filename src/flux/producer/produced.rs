//! Objects that a controller creates.

use crate::base::finding::ObjectRef;
use crate::flux::object::synthetic_node::{entry, map, quoted, text};
use crate::kube::Object;
use crate::text::Span;
use crate::yaml::{Name, Node, Style, Value};

/// A produced object.
#[derive(Debug, Clone)]
pub struct Produced {
    /// The object, with unknown values marked.
    pub object: Object,
    /// Whether the object may have further keys.
    pub open: bool,
    /// The producer; `None` for an applier or the configuration.
    pub by: Option<ObjectRef>,
    /// Whether the producer computes the name of the object, so that the object may not exist.
    pub has_computed_name: bool,
}

/// Looks up an object of the core group in a cluster by kind, namespace and name. The namespace of a Namespace is empty.
pub type ObjectLookup<'a> = &'a dyn Fn(&str, &str, &str) -> Option<Object>;

impl Produced {
    pub(super) fn applied(object: Object) -> Self {
        Self { object, open: false, by: None, has_computed_name: false }
    }

    /// Creates an object of which only the name is known.
    pub(crate) fn unknown(kind: &str, namespace: &str, name: &str, place: &Span, by: &ObjectRef) -> Self {
        let object = shell(kind, namespace, name, Vec::new(), place);
        Self { object, open: true, by: Some(by.clone()), has_computed_name: false }
    }

    /// Renames the object, and removes its labels and annotations.
    pub(super) fn named(self, namespace: &str, name: &str) -> Self {
        let place = self.object.span().clone();
        let mut node = self.object.node.without("metadata");
        let metadata = map(vec![("name", quoted(name, &place)), ("namespace", quoted(namespace, &place))], &place);
        node = node.with(entry("metadata", metadata));
        Self { object: Object { node }, ..self }
    }
}

/// Creates an object with data.
pub(super) fn shell(kind: &str, namespace: &str, name: &str, data: Vec<(Name, Node)>, place: &Span) -> Object {
    let metadata = map(vec![("name", quoted(name, place)), ("namespace", quoted(namespace, place))], place);
    let entries = data.into_iter().map(|(key, node)| entry(&key, node)).collect::<Vec<_>>();
    let data = Node::at(Value::Map(entries.into()), place.clone());
    let fields = vec![("apiVersion", text("v1", place)), ("kind", text(kind, place)), ("metadata", metadata)];
    Object { node: map(fields, place).with(entry("data", data)) }
}

/// Creates an unknown value with the position of its declaration.
pub(super) fn unknown(key: &str, place: &Span) -> Node {
    Node::scalar(format!("${{{key}}}"), Style::Unknown, place.clone())
}
