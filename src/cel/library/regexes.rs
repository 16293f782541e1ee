//! Regular expressions, in the syntax of Go.

use super::arguments::{int, text};
use super::function::{ALWAYS, Function};
use crate::base::go_regexp::{Regexp, expanded_size};
use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("matches", ALWAYS, &["(string, string) bool", "string.(string) bool"], |arguments, budget| {
        let (own, regexp) = prepare(arguments, budget)?;
        Ok(Value::Bool(regexp.is_match(own)))
    }),
    Function::new("find", ALWAYS, &["string.(string) string"], |arguments, budget| {
        let (own, regexp) = prepare(arguments, budget)?;
        Ok(Value::text(regexp.find(own).unwrap_or_default()))
    }),
    Function::new(
        "findAll",
        ALWAYS,
        &["string.(string) list(string)", "string.(string, int) list(string)"],
        |arguments, budget| {
            let (own, regexp) = prepare(arguments, budget)?;
            let limit = if arguments.len() > 2 { int(arguments, 2)? } else { -1 };
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let found: Vec<Value> = regexp.find_all(own).take(limit).map(Value::text).collect();
            budget.spend(found.len())?;
            Ok(Value::list(found))
        },
    ),
];

/// The pairs of a byte of the text and a byte of the pattern that cost one step, as on the API server.
const PAIRS_PER_STEP: usize = 40;

/// The text and the compiled pattern. Their sizes cost steps.
fn prepare<'a>(arguments: &'a [Value], budget: &mut Budget) -> Result<(&'a str, Regexp), Failure> {
    let (own, pattern) = (text(arguments, 0, budget)?, text(arguments, 1, budget)?);
    let size = expanded_size(pattern);
    budget.spend(size / 10)?;
    budget.spend(own.len().saturating_mul(size) / PAIRS_PER_STEP)?;
    let regexp =
        Regexp::compile(pattern).map_err(|why| Failure::error(format!("invalid regular expression: {why}")))?;
    Ok((own, regexp))
}
