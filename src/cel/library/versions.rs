//! Semantic versions.

use super::arguments::text;
use super::function::Function;
use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::notation::Semver;
use crate::cel::value::Value;

/// The version that introduced this library.
const SEMVER: u32 = 33;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("semver", SEMVER, &["(string) semver", "(string, bool) semver"], |arguments, budget| {
        let version = read(arguments, budget)?;
        version.map(|version| Value::Semver(version.into())).ok_or_else(|| Failure::error("invalid semantic version"))
    }),
    Function::new("isSemver", SEMVER, &["(string) bool", "(string, bool) bool"], |arguments, budget| {
        Ok(Value::Bool(read(arguments, budget)?.is_some()))
    }),
    Function::new("major", SEMVER, &["semver.() int"], |arguments, _| number(arguments, 0)),
    Function::new("minor", SEMVER, &["semver.() int"], |arguments, _| number(arguments, 1)),
    Function::new("patch", SEMVER, &["semver.() int"], |arguments, _| number(arguments, 2)),
];

/// Reads a version; with `true` as the second argument, it may be incomplete.
fn read(arguments: &[Value], budget: &mut Budget) -> Result<Option<Semver>, Failure> {
    let own = text(arguments, 0, budget)?;
    match arguments.get(1) {
        None | Some(Value::Bool(false)) => Ok(Semver::parse(own)),
        Some(Value::Bool(true)) => Ok(Semver::parse_normalized(own)),
        Some(_) => Err(Failure::no_overload()),
    }
}

#[expect(clippy::cast_possible_wrap, reason = "the API server converts in the same way")]
fn number(arguments: &[Value], at: usize) -> Result<Value, Failure> {
    match arguments {
        [Value::Semver(version)] => Ok(Value::Int(version.numbers.get(at).copied().unwrap_or(0) as i64)),
        _ => Err(Failure::no_overload()),
    }
}
