//! The identity of an object.

use std::sync::LazyLock;

use crate::kube::Object;
use crate::yaml::{Name, Node};

/// The identity of an object, regardless of its version: group, kind, namespace and name.
pub(crate) type ObjectId = (Name, Name, Name, Name);

/// The identity of an object.
pub(crate) fn object_id(object: &Object) -> ObjectId {
    let metadata = object.node.get("metadata");
    let shared = |node: Option<&Node>| node.and_then(Node::shared_text).unwrap_or_else(|| NO_NAME.clone());
    let named = |key: &str| shared(metadata.and_then(|metadata| metadata.get(key)));
    let group = Some(object.group()).filter(|group| !group.is_empty()).map_or_else(|| NO_NAME.clone(), Name::from);
    (group, shared(object.node.get("kind")), named("namespace"), named("name"))
}

/// The empty text: the core group, or no namespace.
pub(crate) static NO_NAME: LazyLock<Name> = LazyLock::new(|| Name::from(""));
