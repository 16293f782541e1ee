//! Scalars as Flux parses them from the expanded text.

use arcstr::ArcStr;

use crate::text::Span;
use crate::yaml::{Node, Reader, Scalar, Style, to_json};

/// The largest exact integer. Larger integers are rounded, since Flux converts them to floating point.
const EXACT: i128 = 1 << 53;

/// The text and style of a scalar with the value that Flux has parsed; `None` for a number without JSON notation.
///
/// Flux parses YAML like Kubernetes: `yes` is a boolean, and a date is a string.
pub(super) fn canonical(text: &str, style: Style, at: &Span) -> Option<(ArcStr, Style)> {
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

/// Returns whether kustomize changes a plain string, such as a date, which becomes a time.
fn is_changed(node: &Node, text: &str) -> bool {
    let dated = text.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    dated && to_json(node, Reader::Kustomize).as_str() != Some(text)
}

/// The rounded form of an integer that floating point cannot represent.
pub(super) fn rounded(value: i128) -> Option<String> {
    if (-EXACT..=EXACT).contains(&value) {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "Flux rounds the number in the same way")]
    let rounded = (value as f64).to_string();
    Some(rounded)
}

/// Returns whether a plain scalar is an integer that floating point cannot represent.
pub(super) fn is_rounded(node: &Node) -> bool {
    // Shorter integers are exact.
    let long = node.text().is_some_and(|text| text.len() > 12);
    long && matches!(node.resolve(Reader::Kustomize), Some(Scalar::Int(value)) if rounded(value).is_some())
}
