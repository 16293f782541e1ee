//! Values whose variables are not set.

use super::envsubst::{Lookup, Template};
use crate::text::File;
use crate::yaml::go::PrintedStyle;
use crate::yaml::{Node, Style, Value, parse};

/// The name of the field in the document with which the expanded value is parsed.
const FIELD: &str = "value";

/// The value of a scalar with unknown variables if none of them is set: its text with the defaults, or nothing if it is
/// null. `None` for a scalar without unknown variables, and for a value that would keep the text of a known variable.
///
/// Flux substitutes in the printed object, so the result may have another type.
pub fn without_values(node: &Node) -> Option<String> {
    let Value::Scalar(current, Style::Unknown) = &node.value else { return None };
    let written = scalar(node.span().text()).unwrap_or_else(|| node.span().text().to_owned());
    let template = Template::parse(&written).ok()?;
    let expanded = template.expand(|_| Lookup::Known("")).ok()?.text;
    let value = match PrintedStyle::of(&written) {
        PrintedStyle::Plain => scalar(&expanded).unwrap_or(expanded),
        PrintedStyle::Single | PrintedStyle::Double | PrintedStyle::Literal => expanded,
    };
    // The text of the node contains the values of known variables.
    let known = without_calls(current);
    let is_kept = known.is_empty() || template.names().is_empty() || written.contains(&*known);
    is_kept.then_some(value)
}

/// The value of a scalar as a field of a document; an empty text for null. `None` if the text is not one scalar.
fn scalar(text: &str) -> Option<String> {
    let parsed = parse(&File::new("", format!("{FIELD}: {text}\n")));
    let value = parsed.documents.first()?.node.get(FIELD)?;
    if value.is_null() { Some(String::new()) } else { value.text().map(ToOwned::to_owned) }
}

/// A text without its `${…}`.
fn without_calls(text: &str) -> String {
    let mut rest = text;
    let mut known = String::new();
    while let Some((before, call)) = rest.split_once("${") {
        known.push_str(before);
        rest = call.split_once('}').map_or("", |(_, after)| after);
    }
    known + rest
}
