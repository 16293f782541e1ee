//! The evaluation of expressions.
//!
//! A failure of a part is a failure of the whole, except in `&&`, `||` and quantifiers: a `false` or a `true` that decides
//! the result wins over an error or an unknown value, whatever the order.

use std::collections::BTreeMap;

use super::fold::fold;
use super::operand::{boolean, decide, known, value};
use super::scope::{Evaluated, Scope};
use super::select::{index, select};
use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::syntax::{Argument, Expr, Kind, Pair, Selection};
use crate::cel::value::{Read, Value};

/// Evaluates an expression that was checked. Also returns the fields that it read.
pub(crate) fn evaluate(expr: &Expr, variables: &[(&str, Value)], budget: &mut Budget) -> (Evaluated, Vec<Read>) {
    let mut scope = Scope::new(variables, budget, step);
    let result = value(expr, &mut scope).and_then(known);
    (result, scope.into_reads())
}

/// The value of an expression. Only a variable or a field can be the value [`Value::Unknown`].
fn step(expr: &Expr, scope: &mut Scope<'_>) -> Evaluated {
    scope.budget.spend(1)?;
    match &expr.kind {
        Kind::Literal(value) => Ok(value.clone()),
        Kind::Name(name) => Ok(scope.variable(name)),
        Kind::Select(operand, field, selection) => select(operand, field, *selection, scope),
        Kind::Index(operand, key, selection) => index(operand, key, *selection, scope),
        Kind::Call { arguments, function, .. } => {
            let Some(function) = function else { unreachable!("the checker finds the function of each call") };
            call(arguments, function.run, scope)
        }
        Kind::And(operands) => decide(operands.iter(), false, scope, &mut boolean),
        Kind::Or(operands) => decide(operands.iter(), true, scope, &mut boolean),
        Kind::Conditional(parts) => {
            let [condition, one, other] = &**parts;
            if boolean(condition, scope)? { value(one, scope) } else { value(other, scope) }
        }
        Kind::OrElse(receiver, other, selection) => or_else(receiver, other, *selection, scope),
        Kind::List(items) => list(items, scope),
        Kind::Map(pairs) => map(pairs, scope),
        Kind::Fold(macro_call) => fold(macro_call, scope),
    }
}

/// Calls a function with known arguments.
fn call(arguments: &[Expr], run: fn(&[Value], &mut Budget) -> Evaluated, scope: &mut Scope<'_>) -> Evaluated {
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments {
        values.push(known(value(argument, scope)?)?);
    }
    run(&values, scope.budget)
}

fn or_else(receiver: &Expr, other: &Expr, selection: Selection, scope: &mut Scope<'_>) -> Evaluated {
    match known(value(receiver, scope)?)? {
        Value::Optional(None) => value(other, scope),
        Value::Optional(Some(content)) if selection == Selection::Value => Ok(Value::clone(&content)),
        present @ Value::Optional(Some(_)) => Ok(present),
        other => Ok(other),
    }
}

/// The content of an optional item; `None` if it has none.
fn content(is_optional: bool, value: Value) -> Result<Option<Value>, Failure> {
    match (is_optional, value) {
        (false, value) => Ok(Some(value)),
        (true, Value::Optional(content)) => Ok(content.map(|content| Value::clone(&content))),
        (true, Value::Unknown) => Err(Failure::Unknown),
        (true, _) => Err(Failure::error("cannot initialize optional from non-optional value")),
    }
}

fn list(items: &[Argument], scope: &mut Scope<'_>) -> Evaluated {
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        let value = value(&item.value, scope)?;
        values.extend(content(item.is_optional, value)?);
    }
    Ok(Value::list(values))
}

fn map(pairs: &[Pair], scope: &mut Scope<'_>) -> Evaluated {
    let mut entries = BTreeMap::new();
    for pair in pairs {
        let key = known(value(&pair.key, scope)?)?;
        let value = value(&pair.value, scope)?;
        let Some(key) = key.as_key() else {
            return Err(Failure::error(format!("unsupported key type: {}", key.type_name())));
        };
        let Some(value) = content(pair.is_optional, value)? else { continue };
        if entries.insert(key, value).is_some() {
            return Err(Failure::error("Failed with repeated key"));
        }
    }
    Ok(Value::map(entries))
}
