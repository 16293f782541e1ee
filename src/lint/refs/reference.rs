//! A reference from a Flux object to another object.

use crate::kube::ObjectId;
use crate::lint::fields::text_of;
use crate::yaml::Node;

/// A reference to another object.
pub struct Reference<'a> {
    /// The node to show: the name, or the whole reference if it has no name.
    pub node: &'a Node,
    /// The referenced object.
    pub target: ObjectId<'a>,
}

impl<'a> Reference<'a> {
    /// The reference to an object of a known kind by `name` and `namespace`. The default namespace is `local`.
    pub(super) fn read(node: &'a Node, group: &'a str, kind: &'a str, local: Option<&'a str>) -> Option<Self> {
        let namespace = text_of(node, "namespace").or(local)?;
        Some(Self::named(node, ObjectId { group, kind, namespace, name: text_of(node, "name")? }))
    }

    /// The reference to an object of a known kind by `name`, in namespace `local`.
    pub(super) fn local(node: &'a Node, group: &'a str, kind: &'a str, local: Option<&'a str>) -> Option<Self> {
        Some(Self::named(node, ObjectId { group, kind, namespace: local?, name: text_of(node, "name")? }))
    }

    fn named(node: &'a Node, target: ObjectId<'a>) -> Self {
        Self { node: node.get("name").unwrap_or(node), target }
    }
}
