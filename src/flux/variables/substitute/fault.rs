//! Findings of `${…}` expressions that Flux cannot expand.

use super::owner;
use super::rule_ids::{SHELL_VARIABLE_SUBSTITUTED, UNDEFINED_VARIABLE};
use super::values::{Values, string};
use crate::base::finding::Finding;
use crate::base::similar_names::did_you_mean;
use crate::flux::variables::envsubst::fault::{Fault, FaultKind};
use crate::kustomize::FAILED_BUILD;
use crate::text::Span;
use crate::yaml::{Node, Value};

/// The finding of a fault. `place` is the scalar with the fault, and `text` is the text that Flux expands.
pub(super) fn finding(fault: &Fault, text: &str, place: &Node, values: &Values<'_>) -> Finding {
    let expression = text.get(fault.range.clone()).unwrap_or_default();
    let span = narrowed(place, expression);
    let shown = shorten(expression);
    let (message, help) = match fault.kind {
        FaultKind::NotSet => {
            let name = name_of(expression);
            let names = values.variables.values.keys().map(|name| &**name);
            let help = match did_you_mean(name, names) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!(
                    "set it in `postBuild`, set a default with `${{{name}:=…}}`, or write `$${{{name}}}` if it belongs to \
                     another program"
                ),
            };
            return Finding::error(UNDEFINED_VARIABLE, span, format!("variable `{name}` is not defined")).help(help);
        }
        FaultKind::NoName => ("no name follows `${`", LITERALLY),
        FaultKind::NotClosed => ("only `}` or an operator may follow the name", "use `:=` or `:-` for a default, or "),
        FaultKind::NoArgument => ("its operator has no argument, or the text ends before `}`", LITERALLY),
        FaultKind::Malformed => {
            ("Flux does not support this operator, or the text after the operator is not valid", LITERALLY)
        }
        FaultKind::TooDeep => ("it has too many nested `${`", "nest fewer `${`"),
        FaultKind::Backwards => {
            ("the substring ends before it begins, which Flux does not support", "use a length of 0 or more")
        }
        FaultKind::CutCharacter => ("it splits a character, since Flux counts bytes", "split between characters"),
        FaultKind::TooLong => ("it expands the object to more than 4 MiB", "use a shorter value"),
        FaultKind::TooSlow => ("its pattern takes too long to match", "use fewer `*`, or a shorter value"),
    };
    if let Some(owner) = string(place).and_then(|text| owner::of_malformed(&text, expression)) {
        let message = format!("`{shown}` belongs to the {owner}, and Flux fails to parse it: {message}");
        let help = "set the label or annotation `kustomize.toolkit.fluxcd.io/substitute: disabled` on the object, or \
                    write `$${` for each `${`";
        return Finding::error(SHELL_VARIABLE_SUBSTITUTED, span, message).help(help);
    }
    let help = if fault.kind == FaultKind::NotClosed { [help, LITERALLY].concat() } else { help.to_string() };
    Finding::error(FAILED_BUILD, span, format!("`{shown}` is not a valid substitution: {message}")).help(help)
}

const LITERALLY: &str = "write `$${` for a `${` that belongs to another program";

fn name_of(call: &str) -> &str {
    let name = call.trim_start_matches(['$', '{', '#']);
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    name.get(..end).unwrap_or(name)
}

/// The place of a text in a scalar, or the place of the scalar if the scalar does not contain the text.
pub(super) fn narrowed(place: &Node, text: &str) -> Span {
    let span = place.span();
    let whole = matches!(&place.value, Value::Scalar(..));
    let found = if text.is_empty() || !whole { None } else { span.text().find(text) };
    found.map_or_else(
        || span.clone(),
        |at| {
            let start = span.range().start + at;
            span.file().span(start..start + text.len())
        },
    )
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= 60 { text.to_string() } else { text.chars().take(59).chain(['…']).collect() }
}
