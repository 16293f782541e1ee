//! Regular expressions.

use super::function::{Function, boolean, error, int, paid, text};
use crate::base::go_regexp::{Refused, Regexp};
use crate::flux::resourceset::template::budget::Budget;
use crate::flux::resourceset::template::fault::Fault;
use crate::flux::resourceset::template::functions::function::Parameter::{Int, Text};
use crate::flux::resourceset::template::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("regexMatch", &[Text, Text], None, |a, budget| {
        let Ok(regexp) = compiled(text(a, 0), budget)? else { return boolean(false) };
        is_match(&regexp, a, budget)
    }),
    Function::new("mustRegexMatch", &[Text, Text], None, |a, budget| is_match(&compile(a, budget)?, a, budget)),
    Function::new("regexFind", &[Text, Text], None, find),
    Function::new("mustRegexFind", &[Text, Text], None, find),
    Function::new("regexFindAll", &[Text, Text, Int], None, find_all),
    Function::new("mustRegexFindAll", &[Text, Text, Int], None, find_all),
    Function::new("regexReplaceAll", &[Text, Text, Text], None, replace),
    Function::new("mustRegexReplaceAll", &[Text, Text, Text], None, replace),
    Function::new("regexReplaceAllLiteral", &[Text, Text, Text], None, replace_literal),
    Function::new("mustRegexReplaceAllLiteral", &[Text, Text, Text], None, replace_literal),
    Function::new("regexSplit", &[Text, Text, Int], None, split),
    Function::new("mustRegexSplit", &[Text, Text, Int], None, split),
    Function::new("regexQuoteMeta", &[Text], None, |a, budget| {
        let special = |c: char| r"\.+*?()|[]{}^$".contains(c);
        let quoted = text(a, 0).chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c]));
        paid(quoted.collect::<String>(), budget)
    }),
];

/// The cost of the compilation of one state, in steps of a match.
const COMPILATION: usize = 64;

/// The cost of a pattern that is refused, which may be too large.
const REFUSED: usize = 8_000_000;

fn compiled(pattern: &str, budget: &mut Budget) -> Result<Result<Regexp, Refused>, Fault> {
    let regexp = Regexp::compile(pattern);
    budget.matching(regexp.as_ref().map_or(REFUSED, |regexp| regexp.steps("").saturating_mul(COMPILATION)))?;
    Ok(regexp)
}

fn compile(arguments: &[Value], budget: &mut Budget) -> Result<Regexp, Fault> {
    let pattern = text(arguments, 0);
    compiled(pattern, budget)?
        .map_err(|refused| error(format!("`{pattern}` is not a valid regular expression: {refused}")))
}

/// Pays for all matches in a text, and returns their number. The search for each may read the text to its end.
fn count_matches(regexp: &Regexp, text: &str, budget: &mut Budget) -> Result<usize, Fault> {
    // The caller searches again.
    let steps = regexp.steps(text).saturating_mul(2);
    budget.matching(steps)?;
    let mut count = 0;
    for _ in regexp.find_all(text) {
        budget.matching(steps)?;
        count += 1;
    }
    Ok(count)
}

fn is_match(regexp: &Regexp, arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    budget.matching(regexp.steps(text(arguments, 1)))?;
    boolean(regexp.is_match(text(arguments, 1)))
}

fn find(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let regexp = compile(arguments, budget)?;
    budget.matching(regexp.steps(text(arguments, 1)))?;
    paid(regexp.find(text(arguments, 1)).unwrap_or_default(), budget)
}

/// The limit of the last argument; no limit if the argument is negative.
fn limit(arguments: &[Value]) -> usize {
    usize::try_from(int(arguments, 2)).unwrap_or(usize::MAX)
}

fn find_all(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let regexp = compile(arguments, budget)?;
    let text = text(arguments, 1);
    budget.bytes(text.len() * 8)?;
    count_matches(&regexp, text, budget)?;
    Ok(Value::texts(regexp.find_all(text).take(limit(arguments))))
}

fn replace(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let regexp = compile(arguments, budget)?;
    let (text, by) = (text(arguments, 1), text(arguments, 2));
    let count = count_matches(&regexp, text, budget)?;
    budget.bytes(count.saturating_mul(by.len()))?;
    paid(regexp.replace_all(text, by), budget)
}

fn replace_literal(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let regexp = compile(arguments, budget)?;
    let (text, by) = (text(arguments, 1), text(arguments, 2));
    let count = count_matches(&regexp, text, budget)?;
    budget.bytes(count.saturating_mul(by.len()))?;
    paid(regexp.replace_all_literal(text, by), budget)
}

fn split(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let regexp = compile(arguments, budget)?;
    let text = text(arguments, 1);
    budget.bytes(text.len() * 8)?;
    count_matches(&regexp, text, budget)?;
    Ok(Value::texts(regexp.split(text, limit(arguments))))
}
