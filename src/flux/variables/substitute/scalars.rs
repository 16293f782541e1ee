//! Substitution scalar by scalar, where that is sure to come to what Flux does.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::canonical::{canonical, is_rounded};
use super::origin;
use super::values::{Values, string};
use crate::flux::variables::envsubst::expand::Expansion;
use crate::flux::variables::envsubst::template::Template;
use crate::yaml::go::{Form, is_lost_as_block};
use crate::yaml::{Name, Node, Style, Value};

/// Lines are folded past this column; a little is left for quotes.
const NARROW: usize = 76;

/// The way of a scalar into the text: this one cannot be taken by itself.
struct Tangled;

/// The object with values put in, `None` in it when nothing changes; `None` when only the whole text tells.
#[expect(clippy::option_option, reason = "whether it is certain, and whether it changes")]
pub(super) fn substitute(node: &Node, values: &Values<'_>) -> Option<Option<Node>> {
    changed(node, 0, values).ok()
}

/// Collects the names that the object reads; `false` when only the whole text tells.
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

/// The node that takes the place of this one, if any; its text begins at a column.
fn changed(node: &Node, column: usize, values: &Values<'_>) -> Result<Option<Node>, Tangled> {
    match &node.value {
        Value::Scalar(text, _) if !text.contains('$') => {
            if is_rounded(node) || is_lost_as_block(text) {
                Err(Tangled)
            } else {
                Ok(None)
            }
        }
        Value::Scalar(..) => scalar(node, column, values),
        Value::Seq(items) => {
            let mut new: Option<Vec<Node>> = None;
            for (at, item) in items.iter().enumerate() {
                if let Some(item) = changed(item, column + 2, values)? {
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
                // A scalar stands after the key, anything else below it.
                let below = if entry.node.text().is_some() { entry.key.len() + 4 } else { 2 };
                if let Some(value) = changed(&entry.node, column + below, values)? {
                    let new = new.get_or_insert_with(|| entries.to_vec());
                    new[at] = entry.with_node(value);
                }
            }
            Ok(new.map(|entries| Node { value: Value::Map(entries.into()), origin: node.origin.clone() }))
        }
    }
}

/// The template of a text that is printed as it stands, quotes and indentation aside, and how it is; `None` for others.
fn alone(text: &str, column: usize) -> Option<(Template<'_>, Form)> {
    let template = Template::parse(text).ok()?;
    let blank = |range| text.get(range).is_none_or(|call: &str| call.contains([' ', '\n', '\'']));
    let folds = || text.contains(' ') && column + text.len() > NARROW;
    let form = Form::of(text);
    match form {
        Form::Double => return None,
        Form::Single if text.contains('\'') => return None,
        Form::Literal if template.calls().any(blank) => return None,
        Form::Plain | Form::Single if folds() && template.calls().any(blank) => return None,
        Form::Plain | Form::Single | Form::Literal => {}
    }
    Some((template, form))
}

fn scalar(node: &Node, column: usize, values: &Values<'_>) -> Result<Option<Node>, Tangled> {
    let Some(text) = string(node) else { return Ok(None) };
    let (template, form) = alone(&text, column).ok_or(Tangled)?;
    // What is wrong is said of the whole text.
    let expansion = template.expand(|name| values.lookup(name)).map_err(|_| Tangled)?;
    if !is_safe(&text, form, column, &expansion) {
        return Err(Tangled);
    }
    let unknown = expansion.pieces.iter().any(|piece| piece.unknown);
    let (text, style) = match form {
        _ if unknown => (Arc::from(&*expansion.text), Style::Unknown),
        Form::Plain => canonical(&expansion.text, Style::Plain, node.span()).ok_or(Tangled)?,
        Form::Literal => (Arc::from(&*expansion.text), Style::Literal),
        Form::Single | Form::Double => (Arc::from(&*expansion.text), Style::Double),
    };
    let origin = origin::of(&node.origin, &expansion, &text, values);
    Ok(Some(Node { value: Value::Scalar(text, style), origin }))
}

/// Tells whether a text that was printed in a form is read in that form after its expansion.
fn is_safe(text: &str, form: Form, column: usize, expansion: &Expansion) -> bool {
    let new = &*expansion.text;
    let values = expansion.pieces.iter().filter(|piece| piece.variable.is_some());
    let mut values = values.map(|piece| (piece.output.start, new.get(piece.output.clone()).unwrap_or_default()));
    match form {
        Form::Plain | Form::Single => {
            // At a fold a blank more or less makes a difference.
            let folds = text.contains(' ') && column + text.len() > NARROW;
            if folds && values.any(|(_, value)| value.is_empty() || value.starts_with(' ') || value.ends_with(' ')) {
                return false;
            }
            match form {
                Form::Plain => Form::is_plain(new),
                _ => {
                    !new.contains('\'')
                        && matches!(Form::of(new), Form::Plain | Form::Single | Form::Double)
                        && printable(new)
                }
            }
        }
        Form::Literal => {
            let starts_line = |at: usize| at == 0 || new.as_bytes().get(at - 1) == Some(&b'\n');
            let moves =
                |(at, value): (usize, &str)| starts_line(at) && (value.is_empty() || value.starts_with([' ', '\t']));
            // A text that is no block any more is read as one nevertheless, as long as its characters are text.
            !values.any(moves) && printable(new) && !new.starts_with('\t')
        }
        Form::Double => false,
    }
}

/// Tells whether all characters stand for themselves in every version of YAML.
fn printable(text: &str) -> bool {
    !text.contains(|c: char| {
        (c.is_control() && c != '\n') || matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}')
    })
}
