//! Regular expressions.

use regex::Regex;

use super::function::{Function, boolean, error, int, paid, text};
use crate::flux::resourceset::template::budget::Budget;
use crate::flux::resourceset::template::fault::Fault;
use crate::flux::resourceset::template::functions::function::Parameter::{Int, Text};
use crate::flux::resourceset::template::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("regexMatch", &[Text, Text], None, |a, _| {
        boolean(Regex::new(text(a, 0)).is_ok_and(|regex| regex.is_match(text(a, 1))))
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

fn compile(arguments: &[Value]) -> Result<Regex, Fault> {
    Regex::new(text(arguments, 0)).map_err(|_| error(format!("`{}` is no regular expression", text(arguments, 0))))
}

fn find(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let regex = compile(arguments)?;
    paid(regex.find(text(arguments, 1)).map_or("", |found| found.as_str()), budget)
}

/// So many as the last argument says; all when it is negative.
fn limit(arguments: &[Value]) -> usize {
    usize::try_from(int(arguments, 2)).unwrap_or(usize::MAX)
}

fn find_all(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let regex = compile(arguments)?;
    budget.bytes(text(arguments, 1).len() * 8)?;
    Ok(Value::texts(regex.find_iter(text(arguments, 1)).take(limit(arguments)).map(|found| found.as_str())))
}

fn replace(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let regex = compile(arguments)?;
    let (text, by) = (text(arguments, 1), text(arguments, 2));
    budget.bytes(regex.find_iter(text).count() * by.len())?;
    paid(regex.replace_all(text, by), budget)
}

fn replace_literal(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let regex = compile(arguments)?;
    let (text, by) = (text(arguments, 1), text(arguments, 2));
    budget.bytes(regex.find_iter(text).count() * by.len())?;
    paid(regex.replace_all(text, regex::NoExpand(by)), budget)
}

fn split(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let regex = compile(arguments)?;
    let text = text(arguments, 1);
    budget.bytes(text.len() * 8)?;
    Ok(match limit(arguments) {
        0 => Value::texts(Vec::<&str>::new()),
        limit => Value::texts(regex.splitn(text, limit)),
    })
}
