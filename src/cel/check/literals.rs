//! Literal arguments that a function can never accept. The API server refuses them when it compiles an expression.

use crate::base::go_regexp::Regexp;
use crate::cel::notation::{Duration, Timestamp};
use crate::cel::syntax::{Expr, Kind};
use crate::cel::value::Value;

/// The position of the faulty argument and the fault.
pub(crate) fn fault<'a>(name: &str, arguments: &'a [Expr]) -> Option<(&'a Expr, String)> {
    let at = usize::from(matches!(name, "matches" | "find" | "findAll"));
    let argument = arguments.get(at)?;
    if name == "duration" && matches!(argument.kind, Kind::Literal(Value::Int(_))) {
        return Some((argument, "invalid duration argument".into()));
    }
    let Kind::Literal(Value::String(text)) = &argument.kind else { return None };
    let message = match name {
        "matches" | "find" | "findAll" => {
            let refused = Regexp::compile(text).err()?;
            format!("invalid {name} argument: {refused}")
        }
        "duration" if Duration::parse(text).is_none() => "invalid duration argument".into(),
        "timestamp" if Timestamp::parse(text).is_none() => "invalid timestamp argument".into(),
        _ => return None,
    };
    Some((argument, message))
}
