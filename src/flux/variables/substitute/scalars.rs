//! Substitution in single scalars, if the result certainly equals the result of Flux.

use std::collections::BTreeSet;

use arcstr::ArcStr;

use super::canonical::{canonical, is_rounded};
use super::origin;
use super::shared_scalars::SharedScalars;
use super::values::{Values, string};
use crate::flux::variables::envsubst::expand::Expansion;
use crate::flux::variables::envsubst::template::Template;
use crate::yaml::go::{PrintedStyle, is_lost_as_block};
use crate::yaml::{Name, Node, Style, Value};

/// The column after which the printer folds lines, less a few columns for quotes.
const NARROW: usize = 76;

/// The error of a substitution that depends on the whole text.
struct Tangled;

/// Substitutes variables in a node. The inner `None` means no change.
///
/// The outer `None` means that the result depends on the whole text.
#[expect(clippy::option_option, reason = "certainty and change are independent")]
pub(super) fn substitute(node: &Node, values: &Values<'_>, shared: &SharedScalars) -> Option<Option<Node>> {
    changed(node, 0, values, shared).ok()
}

/// Collects the names that an object reads; returns `false` if the names depend on the whole text.
pub(super) fn reads(node: &Node, names: &mut BTreeSet<Name>) -> bool {
    match &node.value {
        Value::Seq(items) => items.iter().all(|item| reads(item, names)),
        Value::Map(entries) => entries.iter().all(|entry| is_simple(&entry.key) && reads(&entry.node, names)),
        Value::Scalar(text, _) if !text.contains('$') => !is_rounded(node) && !is_lost_as_block(text),
        Value::Scalar(..) => {
            let Some(text) = string(node) else { return true };
            let Some((template, _)) = alone(&text, 0) else { return false };
            names.extend(template.names().into_iter().map(Name::from));
            if template.has_escapes() {
                names.insert(Name::from(""));
            }
            true
        }
    }
}

fn is_simple(key: &str) -> bool {
    !key.contains('$') && key != "<<"
}

/// The node after substitution, if it changes. The printed text of the node starts at `column`.
fn changed(node: &Node, column: usize, values: &Values<'_>, shared: &SharedScalars) -> Result<Option<Node>, Tangled> {
    match &node.value {
        Value::Scalar(text, _) if !text.contains('$') => {
            if is_rounded(node) || is_lost_as_block(text) {
                Err(Tangled)
            } else {
                Ok(None)
            }
        }
        Value::Scalar(..) => shared.find_or(node, values, || scalar(node, column, values), Tangled),
        Value::Seq(items) => {
            let mut new: Option<Vec<Node>> = None;
            for (at, item) in items.iter().enumerate() {
                if let Some(item) = changed(item, column + 2, values, shared)? {
                    let new = new.get_or_insert_with(|| items.to_vec());
                    new[at] = item;
                }
            }
            Ok(new.map(|items| Node { value: Value::Seq(items.into()), origin: node.origin.clone() }))
        }
        Value::Map(entries) => {
            let mut new = None;
            for (at, entry) in entries.iter().enumerate() {
                if !is_simple(&entry.key) {
                    return Err(Tangled);
                }
                // The printer writes a scalar after the key, and other nodes below the key.
                let below = if entry.node.text().is_some() { entry.key.len() + 4 } else { 2 };
                if let Some(value) = changed(&entry.node, column + below, values, shared)? {
                    let new = new.get_or_insert_with(|| entries.to_vec());
                    new[at] = entry.with_node(value);
                }
            }
            Ok(new.map(|entries| Node { value: Value::Map(entries.into()), origin: node.origin.clone() }))
        }
    }
}

/// The template of a text that the printer writes unchanged except for quotes and indentation, with the style of the
/// printed text; `None` for other texts.
fn alone(text: &str, column: usize) -> Option<(Template<'_>, PrintedStyle)> {
    let template = Template::parse(text).ok()?;
    let blank = |range| text.get(range).is_none_or(|call: &str| call.contains([' ', '\n', '\'']));
    let folds = || text.contains(' ') && column + text.len() > NARROW;
    let form = PrintedStyle::of(text);
    match form {
        PrintedStyle::Double => return None,
        PrintedStyle::Single if text.contains('\'') => return None,
        PrintedStyle::Literal if template.calls().any(blank) => return None,
        PrintedStyle::Plain | PrintedStyle::Single if folds() && template.calls().any(blank) => return None,
        PrintedStyle::Plain | PrintedStyle::Single | PrintedStyle::Literal => {}
    }
    Some((template, form))
}

fn scalar(node: &Node, column: usize, values: &Values<'_>) -> Result<Option<Node>, Tangled> {
    let Some(text) = string(node) else { return Ok(None) };
    let (template, form) = alone(&text, column).ok_or(Tangled)?;
    // Faults are reported for the whole text.
    let expansion = template.expand_within(|name| values.lookup(name), &values.steps).map_err(|_| Tangled)?;
    if !is_safe(&text, form, column, &expansion) {
        return Err(Tangled);
    }
    let unknown = expansion.pieces.iter().any(|piece| piece.unknown);
    let (text, style) = match form {
        _ if unknown => (ArcStr::from(&*expansion.text), Style::Unknown),
        PrintedStyle::Plain => canonical(&expansion.text, Style::Plain, node.span()).ok_or(Tangled)?,
        PrintedStyle::Literal => (ArcStr::from(&*expansion.text), Style::Literal),
        PrintedStyle::Single | PrintedStyle::Double => (ArcStr::from(&*expansion.text), Style::Double),
    };
    let text = shared_text(text, &expansion, values);
    let origin = origin::of(&node.origin, &expansion, &text, values);
    Ok(Some(Node { value: Value::Scalar(text, style), origin }))
}

/// A text, or the value of the variable that it consists of, so that both share memory.
fn shared_text(text: ArcStr, expansion: &Expansion, values: &Values<'_>) -> ArcStr {
    let [piece] = &*expansion.pieces else { return text };
    let value = piece.variable.as_deref().and_then(|name| values.shared_value(name));
    value.filter(|value| **value == *text).unwrap_or(text)
}

/// Returns whether an expanded text can be parsed in the style in which the printer wrote the template.
fn is_safe(text: &str, form: PrintedStyle, column: usize, expansion: &Expansion) -> bool {
    let new = &*expansion.text;
    let values = expansion.pieces.iter().filter(|piece| piece.variable.is_some());
    let mut values = values.map(|piece| (piece.output.start, new.get(piece.output.clone()).unwrap_or_default()));
    match form {
        PrintedStyle::Plain | PrintedStyle::Single => {
            // An additional or missing blank changes a fold.
            let folds = text.contains(' ') && column + text.len() > NARROW;
            if folds && values.any(|(_, value)| value.is_empty() || value.starts_with(' ') || value.ends_with(' ')) {
                return false;
            }
            match form {
                PrintedStyle::Plain => PrintedStyle::is_plain(new),
                _ => {
                    !new.contains('\'')
                        && matches!(
                            PrintedStyle::of(new),
                            PrintedStyle::Plain | PrintedStyle::Single | PrintedStyle::Double
                        )
                        && printable(new)
                }
            }
        }
        PrintedStyle::Literal => {
            let starts_line = |at: usize| at == 0 || new.as_bytes().get(at - 1) == Some(&b'\n');
            let moves =
                |(at, value): (usize, &str)| starts_line(at) && (value.is_empty() || value.starts_with([' ', '\t']));
            // A text that no longer needs a block scalar is still parsed as a block scalar if all its characters are
            // printable.
            !values.any(moves) && printable(new) && !new.starts_with('\t')
        }
        PrintedStyle::Double => false,
    }
}

/// Returns whether all characters are printable in every version of YAML.
fn printable(text: &str) -> bool {
    !text.contains(|c: char| {
        (c.is_control() && c != '\n') || matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}')
    })
}
