//! The identity of objects.

use std::sync::LazyLock;

use crate::kube::Object;
use crate::yaml::{Name, Node};

/// What tells two objects apart, whatever their version: group, kind, namespace and name.
pub(crate) type Id = (Name, Name, Name, Name);

/// The identity of an object.
pub(crate) fn id(object: &Object) -> Id {
    let metadata = object.node.get("metadata");
    let shared = |node: Option<&Node>| node.and_then(Node::shared_text).unwrap_or_else(|| NONE.clone());
    let named = |key: &str| shared(metadata.and_then(|metadata| metadata.get(key)));
    let group = Some(object.group()).filter(|group| !group.is_empty()).map_or_else(|| NONE.clone(), Name::from);
    (group, shared(object.node.get("kind")), named("namespace"), named("name"))
}

/// The name of the core group, and of no namespace.
pub(crate) static NONE: LazyLock<Name> = LazyLock::new(|| Name::from(""));
