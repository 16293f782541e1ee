//! Targets for the small languages in manifests: expressions, patterns and variables.

use fleetwright::base::go_regexp::Regexp;
use fleetwright::cel::{Budget, Environment, STEPS_OF_EXPRESSION, Type, Value};
use fleetwright::flux::variables::envsubst::{Lookup, Template};
use fleetwright::text::File;
use fleetwright::yaml;

/// The variable of each CEL expression.
const SELF: &str = "{text: abc, number: 3, list: [1, 2, 3], map: {a: b}, quantity: 10Mi, ip: 10.0.0.1, none: null}";

/// Compiles and evaluates a CEL expression: the evaluation stays within its budget, and each fault is in the text.
pub(crate) fn cel(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let node = yaml::parse(&File::new("self.yaml", SELF)).documents.remove(0).node;
    let value = Value::of_node("self", &node, &Type::Dyn);
    match Environment::new(None).with("self", Type::Dyn).compile(text) {
        Ok(program) => {
            let mut budget = Budget::new(STEPS_OF_EXPRESSION);
            let first = program.evaluate(&[("self", value.clone())], &mut budget);
            let second = program.evaluate(&[("self", value)], &mut Budget::new(STEPS_OF_EXPRESSION));
            assert_eq!(format!("{:?}", first.result), format!("{:?}", second.result));
        }
        Err(errors) => {
            assert!(!errors.is_empty(), "an expression without a program has a fault");
            for error in errors {
                assert!(text.get(error.at.clone()).is_some(), "{:?} is not a range of {text:?}", error.at);
            }
        }
    }
}

/// Matches a pattern, the first line, against the other lines: each match is a part of the text.
pub(crate) fn regexp(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (pattern, text) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(regexp) = Regexp::compile(pattern) else { return };
    let found: Vec<&str> = regexp.find_all(text).collect();
    assert_eq!(regexp.is_match(text), regexp.find(text).is_some());
    assert!(found.is_empty() || regexp.is_match(text), "{pattern:?}");
    assert!(found.iter().all(|found| text.contains(found)));
    if found.is_empty() {
        assert_eq!(regexp.replace_all_literal(text, "x"), text);
    }
    // A replacement with long groups is bounded by the caller, which knows the limit of its file.
    if text.len() < 1000 {
        drop(regexp.replace_all(text, "$0${1}x"));
    }
}

/// Expands the variables in a text: the pieces cover the output without gaps, and lie in the text.
pub(crate) fn substitute(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(template) = Template::parse(text) else { return };
    let lookup = |name: &str| match name.len() % 3 {
        0 => Lookup::NotSet,
        1 => Lookup::Unknown,
        _ => Lookup::Known("a/b.c-d"),
    };
    match template.expand(lookup) {
        Ok(expansion) => {
            let mut end = 0;
            for piece in &expansion.pieces {
                assert_eq!(piece.output.start, end, "a gap before a piece of {text:?}");
                assert!(text.get(piece.source.clone()).is_some(), "{:?} is not a range of {text:?}", piece.source);
                end = piece.output.end;
            }
            assert_eq!(end, expansion.text.len());
        }
        Err(fault) => assert!(text.get(fault.range.clone()).is_some(), "{:?} is not a range of {text:?}", fault.range),
    }
}
