//! Size limits for copied values. A value that is copied into itself repeatedly grows exponentially.

use crate::yaml::{Node, Value};

/// The maximum number of values that the transformers of a build visit.
pub(crate) const MAX_STEPS: usize = 40_000_000;
/// The maximum number of nodes of an object after a copy, far above the limits of Kubernetes.
const MAX_NODES: usize = 1_000_000;
/// The maximum size in bytes of a composed text. Kubernetes accepts objects of up to three million bytes.
const MAX_TEXT: usize = 4_000_000;

/// Rejects an object that is too large after a copy of a list or mapping.
pub(crate) fn check_object_size(object: &Node, copied: &Node) -> Result<(), String> {
    match copied.value {
        Value::Scalar(..) => Ok(()),
        Value::Seq(_) | Value::Map(_) if object.size() <= MAX_NODES => Ok(()),
        Value::Seq(_) | Value::Map(_) => Err(format!("the object would have more than {MAX_NODES} values")),
    }
}

/// Rejects a text that is too long.
pub(crate) fn check_text_size(text: &str) -> Result<(), String> {
    if text.len() <= MAX_TEXT { Ok(()) } else { Err(format!("the text would be longer than {MAX_TEXT} bytes")) }
}
