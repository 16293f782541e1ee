//! Bounds for what copies itself: a value written into itself a few dozen times would fill any memory.

use crate::yaml::{Node, Value};

/// An object may hold this many nodes after a copy; Kubernetes takes far smaller ones.
const MAX_NODES: usize = 1_000_000;
/// A text that is put together may have this many bytes; Kubernetes takes no object of more than three million.
const MAX_TEXT: usize = 4_000_000;

/// Refuses an object that a copy of a list or mapping made too large.
pub(crate) fn check_object_size(object: &Node, copied: &Node) -> Result<(), String> {
    match copied.value {
        Value::Scalar(..) => Ok(()),
        Value::Seq(_) | Value::Map(_) if object.size() <= MAX_NODES => Ok(()),
        Value::Seq(_) | Value::Map(_) => Err(format!("the object would hold more than {MAX_NODES} values")),
    }
}

/// Refuses a text that is too long.
pub(crate) fn check_text_size(text: &str) -> Result<(), String> {
    if text.len() <= MAX_TEXT { Ok(()) } else { Err(format!("the text would be longer than {MAX_TEXT} bytes")) }
}
