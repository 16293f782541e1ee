//! Evaluation of constant parts, which the API server does when it compiles an expression.

use super::literals::fault;
use super::type_error::TypeError;
use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::syntax::{Expr, Kind};
use crate::cel::value::Value;

/// The conversions that are evaluated if their argument is constant.
const CONVERSIONS: [&str; 10] =
    ["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"];

/// Replaces conversions of constants, and lists and maps of constants, by their values.
pub(super) fn fold_constants(expr: &mut Expr) -> Result<(), TypeError> {
    let fail = |expr: &Expr, message: String| Err(TypeError { at: expr.at.clone(), message });
    match &mut expr.kind {
        Kind::Literal(_) | Kind::Name(_) => {}
        Kind::Select(operand, ..) => fold_constants(operand)?,
        Kind::Index(operand, key, _) => {
            fold_constants(operand)?;
            fold_constants(key)?;
            if let Kind::Literal(value @ (Value::Null | Value::Bytes(_))) = &key.kind {
                return fail(key, format!("invalid qualifier type: {}", value.type_name()));
            }
        }
        Kind::OrElse(receiver, other, _) => {
            fold_constants(receiver)?;
            fold_constants(other)?;
        }
        Kind::And(operands) | Kind::Or(operands) => operands.iter_mut().try_for_each(fold_constants)?,
        Kind::Conditional(parts) => parts.iter_mut().try_for_each(fold_constants)?,
        Kind::Fold(fold) => {
            fold_constants(&mut fold.range)?;
            fold.condition.iter_mut().try_for_each(fold_constants)?;
            fold_constants(&mut fold.body)?;
        }
        Kind::List(items) => {
            items.iter_mut().try_for_each(|item| fold_constants(&mut item.value))?;
            let values: Option<Vec<Value>> =
                items.iter().map(|item| constant(&item.value).filter(|_| !item.is_optional)).collect();
            if let Some(values) = values {
                expr.kind = Kind::Literal(Value::list(values));
            }
        }
        Kind::Map(pairs) => {
            for pair in &mut *pairs {
                fold_constants(&mut pair.key)?;
                fold_constants(&mut pair.value)?;
            }
            // The last of equal constant keys wins, while equal keys of other maps fail.
            let pairs: Option<_> = pairs
                .iter()
                .map(|pair| {
                    Some((constant(&pair.key)?.as_key()?, constant(&pair.value).filter(|_| !pair.is_optional)?))
                })
                .collect();
            if let Some(pairs) = pairs {
                expr.kind = Kind::Literal(Value::map(pairs));
            }
        }
        Kind::Call { name, arguments, function, .. } => {
            arguments.iter_mut().try_for_each(fold_constants)?;
            if let Some((argument, message)) = fault(name, arguments) {
                return fail(argument, message);
            }
            let [argument] = &**arguments else { return Ok(()) };
            if let (Some(value), Some(function)) = (constant(argument), function)
                && CONVERSIONS.contains(&&**name)
            {
                match (function.run)(&[value], &mut Budget::default()) {
                    Ok(value) => expr.kind = Kind::Literal(value),
                    Err(Failure::Error(message)) => return fail(expr, message),
                    Err(Failure::Unknown | Failure::Limit) => {}
                }
            }
        }
    }
    Ok(())
}

fn constant(expr: &Expr) -> Option<Value> {
    match &expr.kind {
        Kind::Literal(value) => Some(value.clone()),
        _ => None,
    }
}
