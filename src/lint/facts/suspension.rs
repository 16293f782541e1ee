//! The suspension of Flux objects.

use crate::flux::Applied;
use crate::lint::fields::flag;

/// Returns whether an object is or may be suspended, so that Flux does not reconcile it.
pub(crate) fn is_suspended(applied: &Applied<'_>) -> bool {
    let suspend = applied.object.node.at_keys(&["spec", "suspend"]);
    suspend.is_some_and(|node| !node.is_null() && flag(node) != Some(false)) || applied.completion.mentions("suspend")
}
