//! The functions that templates may call: those of slim-sprig that depend on nothing but their arguments, Go's own, and
//! the operator's.

pub(super) mod function;
mod basic;
pub(in crate::flux::resourceset) mod encode;
mod maps;
mod numbers;
mod lists;
mod paths;
mod regexes;
mod strings;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::flux::resourceset::template::fault::Fault;
use function::Function;

static FUNCTIONS: LazyLock<BTreeMap<&'static str, &'static Function>> = LazyLock::new(|| {
    let files: [&[Function]; 8] = [
        basic::FUNCTIONS,
        encode::FUNCTIONS,
        lists::FUNCTIONS,
        maps::FUNCTIONS,
        numbers::FUNCTIONS,
        paths::FUNCTIONS,
        regexes::FUNCTIONS,
        strings::FUNCTIONS,
    ];
    files.into_iter().flatten().map(|function| (function.name, function)).collect()
});

/// Functions that are there and that nothing here computes: they read the clock, chance, or are not worth their code.
const OTHERS: &[&str] = &[
    "ago",
    "b32dec",
    "b32enc",
    "call",
    "duration",
    "durationRound",
    "html",
    "js",
    "mustDateModify",
    "mustToDate",
    "must_date_modify",
    "randInt",
    "sha1sum",
    "toDate",
    "unixEpoch",
    "urlJoin",
    "urlParse",
    "urlquery",
];

/// Refuses the name of a function that does not exist.
pub(super) fn check(name: &str, at: usize) -> Result<(), Fault> {
    let special = matches!(name, "inputs" | "and" | "or");
    if special || FUNCTIONS.contains_key(name) || OTHERS.contains(&name) {
        return Ok(());
    }
    Err(Fault::error(at, format!("there is no function `{name}`")))
}

/// The function of a name.
pub(super) fn find(name: &str, at: usize) -> Result<&'static Function, Fault> {
    match FUNCTIONS.get(name) {
        Some(function) => Ok(function),
        None if OTHERS.contains(&name) => Err(Fault::limit(at, format!("the function `{name}`"))),
        None => Err(Fault::error(at, format!("there is no function `{name}`"))),
    }
}
