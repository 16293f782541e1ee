//! Substitution of the known variables in an object that Flux fails to substitute.
//!
//! Flux does not apply the object. The linter still checks the object, as it will be after the author corrects the
//! fault.

use super::canonical::canonical;
use super::origin;
use super::values::{Values, string};
use crate::flux::variables::envsubst::expand::{Expansion, Lookup};
use crate::flux::variables::envsubst::fault::FaultKind;
use crate::flux::variables::envsubst::template::Template;
use crate::yaml::{Node, Style, Value};

/// The maximum number of undefined variables in a text. Each is found by another expansion.
const MAX_UNDEFINED: usize = 100;

/// The node with the values of the known variables. Scalars with other variables, and scalars that cannot be expanded,
/// are unknown.
pub(super) fn substitute(node: &Node, values: &Values<'_>) -> Node {
    let value = match &node.value {
        Value::Scalar(text, _) if text.contains('$') => return scalar(node, values),
        Value::Scalar(..) => return node.clone(),
        Value::Seq(items) => Value::Seq(items.iter().map(|item| substitute(item, values)).collect::<Vec<_>>().into()),
        Value::Map(entries) => {
            Value::Map(entries.iter().map(|entry| entry.with_node(substitute(&entry.node, values))).collect())
        }
    };
    Node { value, origin: node.origin.clone() }
}

fn scalar(node: &Node, values: &Values<'_>) -> Node {
    let Some(text) = string(node) else { return node.clone() };
    let Some(expansion) = expand(&text, values) else {
        return Node { value: Value::Scalar((*text).into(), Style::Unknown), origin: node.origin.clone() };
    };
    let new = &*expansion.text;
    let is_unknown = expansion.pieces.iter().any(|piece| piece.unknown);
    let style = if is_unknown { Style::Unknown } else { Style::Plain };
    let (new, style) = canonical(new, style, node.span()).unwrap_or_else(|| (new.into(), style));
    let origin = origin::of(&node.origin, &expansion, &new, values);
    Node { value: Value::Scalar(new, style), origin }
}

/// The expansion of a text, in which undefined variables are unknown; `None` if its syntax is invalid.
fn expand(text: &str, values: &Values<'_>) -> Option<Expansion> {
    let template = Template::parse(text).ok()?;
    let mut undefined: Vec<String> = Vec::new();
    loop {
        let is_undefined = |name: &str| undefined.iter().any(|other| other == name);
        let lookup = |name: &str| if is_undefined(name) { Lookup::Unknown } else { values.lookup(name) };
        match template.expand_within(lookup, &values.steps) {
            Ok(expansion) => return Some(expansion),
            // Each iteration finds another name, so the loop ends.
            Err(fault) if fault.kind == FaultKind::NotSet && undefined.len() < MAX_UNDEFINED => {
                let name = template.name_at(fault.range.start).filter(|name| !is_undefined(name))?.to_string();
                undefined.push(name);
            }
            Err(_) => return None,
        }
    }
}
