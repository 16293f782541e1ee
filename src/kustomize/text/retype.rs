//! New text for a scalar that must keep its type.

use crate::yaml::{Node, Reader, Scalar, Style, Value};

/// The result of setting a new text in a scalar.
pub(crate) enum Retyped {
    /// The text has the same type in this style.
    Compatible(Style),
    /// The text cannot have the type of the old value, given by its tag.
    Incompatible(&'static str),
}

/// The style in which `text` has the type of `old`. A new node has no type yet.
pub(crate) fn retype(old: &Node, text: &str, is_new: bool) -> Retyped {
    let Value::Scalar(_, style) = &old.value else { return Retyped::Compatible(Style::Plain) };
    if is_new || *style != Style::Plain {
        return Retyped::Compatible(if is_new { Style::Plain } else { *style });
    }
    let plain = Node::scalar(text, Style::Plain, old.span().clone());
    let (before, after) = (old.resolve(Reader::Kustomize), plain.resolve(Reader::Kustomize));
    let tag = match (before, after) {
        (Some(Scalar::String(_)), Some(Scalar::String(_))) if is_plain(text) => {
            return Retyped::Compatible(Style::Plain);
        }
        (Some(Scalar::String(_)), _) => return Retyped::Compatible(Style::Double),
        (Some(Scalar::Null), Some(Scalar::Null))
        | (Some(Scalar::Bool(_)), Some(Scalar::Bool(_)))
        | (Some(Scalar::Int(_)), Some(Scalar::Int(_)))
        | (Some(Scalar::Float(_)), Some(Scalar::Float(_) | Scalar::Int(_)))
        | (None, _) => return Retyped::Compatible(Style::Plain),
        (Some(Scalar::Null), _) => "!!null",
        (Some(Scalar::Bool(_)), _) => "!!bool",
        (Some(Scalar::Int(_)), _) => "!!int",
        (Some(Scalar::Float(_)), _) => "!!float",
    };
    Retyped::Incompatible(tag)
}

/// Returns whether a string certainly needs no quotes.
fn is_plain(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| first.is_alphanumeric() || matches!(first, '/' | '.' | '_' | '$'))
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with([' ', ':'])
        && !text.contains(|c: char| c.is_control() || matches!(c, '{' | '}' | '[' | ']' | ','))
}
