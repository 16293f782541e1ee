//! What is said of a `${…}` that Flux cannot expand.

use super::owner;
use super::rule_ids::{SHELL_VARIABLE_SUBSTITUTED, UNDEFINED_VARIABLE};
use super::values::{Values, string};
use crate::base::finding::{Finding, did_you_mean};
use crate::flux::variables::envsubst::fault::{Fault, FaultKind};
use crate::kustomize::FAILED_BUILD;
use crate::text::Span;
use crate::yaml::{Node, Value};

/// Why Flux fails to expand an object; `place` is the scalar with the fault, `text` what Flux expands.
pub(super) fn finding(fault: &Fault, text: &str, place: &Node, values: &Values<'_>) -> Finding {
    let said = text.get(fault.range.clone()).unwrap_or_default();
    let span = narrowed(place, said);
    let shown = shorten(said);
    let (message, help) = match fault.kind {
        FaultKind::NotSet => {
            let name = name_of(said);
            let names = values.variables.values.keys().map(|name| &**name);
            let help = match did_you_mean(name, names) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!(
                    "set it in `postBuild`, give a default as `${{{name}:=…}}`, or write `$${{{name}}}` if it is meant for \
                     another program"
                ),
            };
            return Finding::error(UNDEFINED_VARIABLE, span, format!("no variable is called `{name}`")).help(help);
        }
        FaultKind::NoName => ("no name follows `${`", LITERALLY),
        FaultKind::NotClosed => {
            ("only `}` or an operator may follow the name", "the operators for a default are `:=` and `:-`; ")
        }
        FaultKind::NoArgument => ("its operator lacks an argument, or the text ends before `}`", LITERALLY),
        FaultKind::Malformed => {
            ("Flux does not know this operator, or something follows that does not belong to it", LITERALLY)
        }
        FaultKind::TooDeep => ("too many `${` stand in each other", "use fewer"),
        FaultKind::Backwards => {
            ("the substring ends before it begins, which Flux cannot do", "use a length of 0 or more")
        }
        FaultKind::CutCharacter => ("it cuts a character in two; Flux counts bytes", "cut between characters"),
        FaultKind::TooLong => ("it would make a text of many megabytes", "replace less"),
        FaultKind::TooSlow => ("its pattern would take too long to match", "use fewer stars, or a shorter value"),
    };
    if let Some(owner) = string(place).and_then(|text| owner::of_malformed(&text, said)) {
        let message = format!("`{shown}` is the {owner}'s own, and Flux fails to read it: {message}");
        let help = "set the label or annotation `kustomize.toolkit.fluxcd.io/substitute: disabled` on the object, or \
                    write `$${` for each `${`";
        return Finding::error(SHELL_VARIABLE_SUBSTITUTED, span, message).help(help);
    }
    let help = if fault.kind == FaultKind::NotClosed { [help, LITERALLY].concat() } else { help.to_string() };
    Finding::error(FAILED_BUILD, span, format!("`{shown}` is no substitution: {message}")).help(help)
}

const LITERALLY: &str = "write `$${` for a `${` that is meant for another program";

fn name_of(call: &str) -> &str {
    let name = call.trim_start_matches(['$', '{', '#']);
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    name.get(..end).unwrap_or(name)
}

/// The place of a text in a scalar, or the scalar.
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
