//! Objects that a controller creates.

use crate::base::finding::ObjectRef;
use crate::flux::object::synthetic_node::{entry, map, quoted, text};
use crate::kube::Object;
use crate::text::Span;
use crate::yaml::{Name, Node, Style, Value};

/// What is known of an object that something makes.
#[derive(Debug, Clone)]
pub struct Produced {
    /// The object, as far as it is known: values that nobody can know are marked.
    pub object: Object,
    /// Whether it may have further keys.
    pub open: bool,
    /// Who makes it; the configuration when there is none.
    pub by: Option<ObjectRef>,
}

/// What the objects of a cluster are looked up in: kind, namespace and name of the core group; Namespaces have the
/// empty namespace.
pub type Known<'a> = &'a dyn Fn(&str, &str, &str) -> Option<Object>;

impl Produced {
    pub(super) fn brought(object: Object) -> Self {
        Self { object, open: false, by: None }
    }

    /// An object of which nothing but its name is known.
    pub(crate) fn unknown(kind: &str, namespace: &str, name: &str, place: &Span, by: &ObjectRef) -> Self {
        Self { object: shell(kind, namespace, name, Vec::new(), place), open: true, by: Some(by.clone()) }
    }

    /// The same content under another name; labels and annotations do not come along.
    pub(super) fn named(self, namespace: &str, name: &str) -> Self {
        let place = self.object.span().clone();
        let mut node = self.object.node.without("metadata");
        let metadata = map(vec![("name", quoted(name, &place)), ("namespace", quoted(namespace, &place))], &place);
        node = node.with(entry("metadata", metadata));
        Self { object: Object { node }, ..self }
    }
}

/// An object with the keys of its data and their values.
pub(super) fn shell(kind: &str, namespace: &str, name: &str, data: Vec<(Name, Node)>, place: &Span) -> Object {
    let metadata = map(vec![("name", quoted(name, place)), ("namespace", quoted(namespace, place))], place);
    let entries = data.into_iter().map(|(key, node)| entry(&key, node)).collect::<Vec<_>>();
    let data = Node::at(Value::Map(entries.into()), place.clone());
    let fields = vec![("apiVersion", text("v1", place)), ("kind", text(kind, place)), ("metadata", metadata)];
    Object { node: map(fields, place).with(entry("data", data)) }
}

/// A value that nobody can know, at the place of what says that it is there.
pub(super) fn unknown(key: &str, place: &Span) -> Node {
    Node::scalar(format!("${{{key}}}"), Style::Unknown, place.clone())
}
