//! The functions of templates: the deterministic functions of slim-sprig, and the functions of Go and Flux Operator.

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

/// Unsupported functions, such as functions that read the clock or return random values.
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

/// Returns an error if a function does not exist.
pub(super) fn check(name: &str, at: usize) -> Result<(), Fault> {
    let special = matches!(name, "inputs" | "and" | "or");
    if special || FUNCTIONS.contains_key(name) || OTHERS.contains(&name) {
        return Ok(());
    }
    Err(Fault::error(at, format!("unknown function `{name}`")))
}

/// Finds a function by name.
pub(super) fn find(name: &str, at: usize) -> Result<&'static Function, Fault> {
    match FUNCTIONS.get(name) {
        Some(function) => Ok(function),
        None if OTHERS.contains(&name) => Err(Fault::limit(at, format!("the function `{name}` is not supported"))),
        None => Err(Fault::error(at, format!("unknown function `{name}`"))),
    }
}
