//! Regular expressions.

use super::function::{Function, boolean, error, int, paid, text};
use crate::base::go_regexp::Regexp;
use crate::flux::resourceset::template::budget::Budget;
use crate::flux::resourceset::template::fault::Fault;
use crate::flux::resourceset::template::functions::function::Parameter::{Int, Text};
use crate::flux::resourceset::template::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("regexMatch", &[Text, Text], None, |a, _| {
        boolean(Regexp::compile(text(a, 0)).is_ok_and(|regexp| regexp.is_match(text(a, 1))))
    }),
    Function::new("mustRegexMatch", &[Text, Text], None, |a, _| boolean(compile(a)?.is_match(text(a, 1)))),
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

fn compile(arguments: &[Value]) -> Result<Regexp, Fault> {
    let pattern = text(arguments, 0);
    Regexp::compile(pattern)
        .map_err(|refused| error(format!("`{pattern}` is not a valid regular expression: {refused}")))
}

fn find(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let regexp = compile(arguments)?;
    paid(regexp.find(text(arguments, 1)).unwrap_or_default(), budget)
}

/// The limit of the last argument; no limit if the argument is negative.
fn limit(arguments: &[Value]) -> usize {
    usize::try_from(int(arguments, 2)).unwrap_or(usize::MAX)
}

fn find_all(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let regexp = compile(arguments)?;
    budget.bytes(text(arguments, 1).len() * 8)?;
    Ok(Value::texts(regexp.find_all(text(arguments, 1)).take(limit(arguments))))
}

fn replace(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let regexp = compile(arguments)?;
    let (text, by) = (text(arguments, 1), text(arguments, 2));
    budget.bytes(regexp.find_all(text).count() * by.len())?;
    paid(regexp.replace_all(text, by), budget)
}

fn replace_literal(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let regexp = compile(arguments)?;
    let (text, by) = (text(arguments, 1), text(arguments, 2));
    budget.bytes(regexp.find_all(text).count() * by.len())?;
    paid(regexp.replace_all_literal(text, by), budget)
}

fn split(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let regexp = compile(arguments)?;
    let text = text(arguments, 1);
    budget.bytes(text.len() * 8)?;
    Ok(Value::texts(regexp.split(text, limit(arguments))))
}
