//! What a scalar is after it was read from the expanded text.

use std::sync::Arc;

use crate::text::Span;
use crate::yaml::{Node, Reader, Scalar, Style, to_json};

/// Whole numbers beyond this are rounded, since they pass through floating point.
const EXACT: i128 = 1 << 53;

/// A scalar that every later reader takes for what Flux has read; `None` for a number that JSON has not.
///
/// Flux reads as Kubernetes does, where `yes` is a boolean and a date is a string.
pub(super) fn canonical(text: &str, style: Style, at: &Span) -> Option<(Arc<str>, Style)> {
    if style != Style::Plain {
        return Some((text.into(), style));
    }
    let node = Node::scalar(text, style, at.clone());
    Some(match node.resolve(Reader::Kubernetes) {
        Some(Scalar::Bool(value)) => (value.to_string().into(), Style::Plain),
        Some(Scalar::Int(value)) => (rounded(value).map_or_else(|| text.into(), Into::into), Style::Plain),
        Some(Scalar::Float(value)) if !value.is_finite() => return None,
        Some(Scalar::String(_)) if is_changed(&node, text) => (text.into(), Style::Double),
        _ => (text.into(), Style::Plain),
    })
}

/// Tells whether kustomize would make something else of a plain string: a time of a date.
fn is_changed(node: &Node, text: &str) -> bool {
    let dated = text.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    dated && to_json(node, Reader::Kustomize).as_str() != Some(text)
}

/// A whole number that is too long for floating point, as it comes out of it.
pub(super) fn rounded(value: i128) -> Option<String> {
    if (-EXACT..=EXACT).contains(&value) {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "this is what happens to it")]
    let rounded = (value as f64).to_string();
    Some(rounded)
}

/// Tells whether a plain text is such a number.
pub(super) fn is_rounded(node: &Node) -> bool {
    // Shorter ones fit.
    let long = node.text().is_some_and(|text| text.len() > 12);
    long && matches!(node.resolve(Reader::Kustomize), Some(Scalar::Int(value)) if rounded(value).is_some())
}
