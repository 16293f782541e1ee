//! Lists as sets.

use super::arguments::list;
use super::function::{ALWAYS, Function};
use super::lists::contains_all;
use crate::cel::failure::Failure;
use crate::cel::value::{Value, contains};

const SETS: &[&str] = &["(list(A), list(A)) bool"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("sets.contains", ALWAYS, SETS, |arguments, budget| {
        let (one, other) = (list(arguments, 0, budget)?, list(arguments, 1, budget)?);
        contains_all(one, other, budget).map(Value::Bool)
    }),
    Function::new("sets.equivalent", ALWAYS, SETS, |arguments, budget| {
        let (one, other) = (list(arguments, 0, budget)?, list(arguments, 1, budget)?);
        Ok(Value::Bool(contains_all(one, other, budget)? && contains_all(other, one, budget)?))
    }),
    Function::new("sets.intersects", ALWAYS, SETS, |arguments, budget| {
        let (one, other) = (list(arguments, 0, budget)?, list(arguments, 1, budget)?);
        let mut unknown = false;
        for item in one.iter() {
            match contains(other, &item, budget) {
                Ok(true) => return Ok(Value::Bool(true)),
                Ok(false) => {}
                Err(Failure::Unknown) => unknown = true,
                Err(failure) => return Err(failure),
            }
        }
        if unknown { Err(Failure::Unknown) } else { Ok(Value::Bool(false)) }
    }),
];
