//! Macros: calls that the parser replaces.

use std::ops::Range;

use arcstr::ArcStr;

use super::expression::{Expr, Fold, FoldKind, Kind, Selection};
use super::fault::SyntaxError;

/// The macro of a member call, and its number of variables; `None` for an ordinary function.
fn macro_of(name: &str, arguments: usize) -> Option<(FoldKind, usize)> {
    Some(match (name, arguments) {
        ("all", 2) => (FoldKind::All, 1),
        ("all", 3) => (FoldKind::All, 2),
        ("exists", 2) => (FoldKind::Exists, 1),
        ("exists", 3) => (FoldKind::Exists, 2),
        ("exists_one", 2) => (FoldKind::ExistsOne, 1),
        ("exists_one" | "existsOne", 3) => (FoldKind::ExistsOne, 2),
        ("map", 2 | 3) => (FoldKind::List, 1),
        ("filter", 2) => (FoldKind::Filter, 1),
        ("transformList", 3 | 4) => (FoldKind::List, 2),
        ("transformMap", 3 | 4) => (FoldKind::Map, 2),
        ("transformMapEntry", 3 | 4) => (FoldKind::MapEntries, 2),
        ("sortBy", 2) => (FoldKind::SortBy, 1),
        ("optMap", 2) => (FoldKind::OptionalMap, 1),
        ("optFlatMap", 2) => (FoldKind::OptionalFlatMap, 1),
        _ => return None,
    })
}

/// Creates the expression of a member call: a macro or a call.
pub(crate) fn member_call(receiver: Expr, name: &str, mut arguments: Vec<Expr>) -> Result<Kind, SyntaxError> {
    if let Some((kind, count)) = macro_of(name, arguments.len()) {
        let variables = variables(name, arguments.iter().take(count))?;
        let mut rest = arguments.into_iter().skip(count);
        let (first, second) = (rest.next(), rest.next());
        let (condition, body) = match (first, second) {
            (condition, Some(body)) => (condition, body),
            (Some(body), None) => (None, body),
            (None, None) => unreachable!("the table of macros requires a body"),
        };
        return Ok(Kind::Fold(Box::new(Fold { kind, range: receiver, variables, condition, body })));
    }
    if arguments.len() == 1
        && let Some(form) = [("or", Selection::Optional), ("orValue", Selection::Value)]
            .into_iter()
            .find_map(|(own, form)| (own == name).then_some(form))
    {
        return Ok(Kind::OrElse(Box::new(receiver), Box::new(arguments.remove(0)), form));
    }
    arguments.insert(0, receiver);
    Ok(Kind::Call { name: name.into(), arguments, is_member: true, function: None })
}

/// The names of the variables that a macro binds.
fn variables<'a>(name: &str, arguments: impl Iterator<Item = &'a Expr>) -> Result<Vec<ArcStr>, SyntaxError> {
    let mut names: Vec<ArcStr> = Vec::new();
    for argument in arguments {
        let fail = |message: String| SyntaxError { at: argument.at.clone(), message };
        let Kind::Name(variable) = &argument.kind else {
            let message = match name {
                "optMap" | "optFlatMap" => format!("{name}() variable name must be a simple identifier"),
                "all" | "exists" | "exists_one" | "existsOne" => "argument must be a simple name".into(),
                _ => "argument is not an identifier".into(),
            };
            return Err(fail(message));
        };
        if names.contains(variable) {
            return Err(fail(format!("duplicate variable name: {variable}")));
        }
        if &**variable == "__result__" {
            return Err(fail("iteration variable overwrites accumulator variable".into()));
        }
        names.push(variable.clone());
    }
    Ok(names)
}

/// Creates the expression of a call without a receiver: `has` or a function.
pub(crate) fn global_call(name: &str, mut arguments: Vec<Expr>, at: &Range<usize>) -> Result<Kind, SyntaxError> {
    if name != "has" || arguments.len() != 1 {
        return Ok(Kind::Call { name: name.into(), arguments, is_member: false, function: None });
    }
    match arguments.remove(0).kind {
        Kind::Select(operand, field, Selection::Value) => Ok(Kind::Select(operand, field, Selection::Test)),
        _ => Err(SyntaxError { at: at.clone(), message: "invalid argument to has() macro".into() }),
    }
}
