//! The parts of a name that a kustomization extends.

use crate::kube::Object;
use crate::text::Span;
use crate::yaml::{ChangedBy, Origin};

/// The text because of which the name of an object is invalid: the name in its file, or the text with which a kustomization
/// extends the name; `None` if each text is valid.
pub(super) fn invalid_part(object: &Object) -> Option<&Span> {
    let mut origin = &object.node.at_keys(&["metadata", "name"])?.origin;
    loop {
        let (part, previous) = match origin {
            Origin::At(span) => (Some(span), None),
            Origin::Via(change) => match &change.by {
                ChangedBy::Field(span) | ChangedBy::Generator(span) => (Some(span), change.previous.as_ref()),
                ChangedBy::Variable(_) | ChangedBy::Inherited(..) => (None, change.previous.as_ref()),
                // A patch or an applier replaces the name.
                ChangedBy::Patch(span) | ChangedBy::Applier(span) => (Some(span), None),
            },
        };
        if let Some(part) = part.filter(|part| is_invalid(part.text())) {
            return Some(part);
        }
        origin = previous?;
    }
}

/// Returns whether a text contains a character that is not in any name. A variable may have any value.
fn is_invalid(text: &str) -> bool {
    let is_valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let text = text.trim_matches(['"', '\'']);
    !text.contains('$') && !text.chars().all(is_valid)
}
