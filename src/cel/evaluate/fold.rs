//! Macros that evaluate an expression for each item.

use std::collections::BTreeMap;

use arcstr::ArcStr;

use super::operand::{boolean, decide, known, value};
use super::scope::{Evaluated, Scope};
use crate::cel::failure::Failure;
use crate::cel::library::sort_by_keys;
use crate::cel::syntax::{Fold, FoldKind};
use crate::cel::value::{List, Map, MapKey, Value};
use crate::yaml::Key;

/// The values of the variables for one item.
type Item = [Value; 2];

/// Evaluates a macro.
pub(super) fn fold(fold: &Fold, scope: &mut Scope<'_>) -> Evaluated {
    let range = known(value(&fold.range, scope)?)?;
    if matches!(fold.kind, FoldKind::OptionalMap | FoldKind::OptionalFlatMap) {
        return optional(fold, range, scope);
    }
    let mut items = items(&range, fold.variables.len())?;
    match fold.kind {
        FoldKind::All => decide(&mut *items, false, scope, &mut |item, scope| body_holds(fold, &range, item, scope)),
        FoldKind::Exists => decide(&mut *items, true, scope, &mut |item, scope| body_holds(fold, &range, item, scope)),
        FoldKind::ExistsOne => {
            let count = |item, scope: &mut Scope<'_>| body_holds(fold, &range, item, scope);
            strict(items, scope, count).map(|kept| Value::Bool(kept.into_iter().filter(|holds| *holds).count() == 1))
        }
        FoldKind::Filter => {
            let keep = |item: Item, scope: &mut Scope<'_>| {
                let [first, _] = item.clone();
                Ok(body_holds(fold, &range, item, scope)?.then_some(first))
            };
            strict(items, scope, keep).map(|kept| Value::list(kept.into_iter().flatten()))
        }
        FoldKind::List => {
            let transform = |item, scope: &mut Scope<'_>| transform(fold, &range, item, scope);
            strict(items, scope, transform).map(|kept| Value::list(kept.into_iter().flatten()))
        }
        FoldKind::SortBy => {
            let keyed = |item: Item, scope: &mut Scope<'_>| {
                let [first, _] = item.clone();
                Ok(transform(fold, &range, item, scope)?.map(|key| (key, first)))
            };
            let pairs = strict(items, scope, keyed)?.into_iter().flatten().collect();
            sort_by_keys(pairs, scope.budget)
        }
        FoldKind::Map => {
            let mut entries = BTreeMap::new();
            for item in items {
                let [key, _] = item.clone();
                let Some(value) = transform(fold, &range, item, scope)? else { continue };
                insert(&mut entries, key.as_key().ok_or_else(Failure::no_overload)?, value)?;
            }
            Ok(Value::map(entries))
        }
        FoldKind::MapEntries => {
            let mut entries = BTreeMap::new();
            for item in items {
                let Some(value) = transform(fold, &range, item, scope)? else { continue };
                let Value::Map(map) = value else { return Err(Failure::no_overload()) };
                for (key, value) in map.pairs() {
                    scope.budget.spend(1)?;
                    insert(&mut entries, key, value)?;
                }
            }
            Ok(Value::map(entries))
        }
        FoldKind::OptionalMap | FoldKind::OptionalFlatMap => unreachable!("handled above"),
    }
}

/// Maps the content of an optional value.
fn optional(fold: &Fold, range: Value, scope: &mut Scope<'_>) -> Evaluated {
    let content = match range {
        Value::Optional(None) => return Ok(Value::Optional(None)),
        Value::Optional(Some(content)) => Value::clone(&content),
        _ => return Err(Failure::no_overload()),
    };
    let variables = fold.variables.iter().cloned().zip([content]);
    let mapped = scope.with(variables, |scope| value(&fold.body, scope))?;
    Ok(if fold.kind == FoldKind::OptionalMap { Value::some(known(mapped)?) } else { mapped })
}

/// The values of the variables for each item of a list or a map.
fn items(range: &Value, variables: usize) -> Result<Box<dyn Iterator<Item = Item> + '_>, Failure> {
    let index = |index: usize| Value::Int(i64::try_from(index).unwrap_or(i64::MAX));
    match (range, variables) {
        (Value::List(list), 1) => Ok(Box::new(list.iter().map(|item| [item, Value::Null]))),
        (Value::List(list), _) => Ok(Box::new(list.iter().enumerate().map(move |(at, item)| [index(at), item]))),
        (Value::Map(map), _) => Ok(Box::new(map.pairs().map(|(key, value)| [key.to_value(), value]))),
        _ => Err(Failure::no_overload()),
    }
}

/// Evaluates an expression with the variables of an item.
fn bound<T>(
    fold: &Fold,
    range: &Value,
    item: Item,
    scope: &mut Scope<'_>,
    evaluate: impl FnOnce(&mut Scope<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    scope.budget.spend(1)?;
    // A policy on the keys of a map reads its entries.
    if let (Value::Map(Map::Node(lazy)), [Value::String(key), _]) = (range, &item) {
        scope.read(lazy.read(Key::Name(key.clone()), true));
    }
    if let (Value::List(List::Node(lazy)), false) = (range, fold.variables.is_empty()) {
        scope.read(lazy.read_whole());
    }
    let names: Vec<ArcStr> = fold.variables.clone();
    scope.with(names.into_iter().zip(item), evaluate)
}

fn body_holds(fold: &Fold, range: &Value, item: Item, scope: &mut Scope<'_>) -> Result<bool, Failure> {
    bound(fold, range, item, scope, |scope| boolean(&fold.body, scope))
}

/// The value of the body for an item; `None` if the condition excludes the item.
fn transform(fold: &Fold, range: &Value, item: Item, scope: &mut Scope<'_>) -> Result<Option<Value>, Failure> {
    bound(fold, range, item, scope, |scope| {
        if let Some(condition) = &fold.condition
            && !boolean(condition, scope)?
        {
            return Ok(None);
        }
        value(&fold.body, scope).map(Some)
    })
}

/// Evaluates all items. An unknown item wins over an error.
fn strict<T>(
    items: Box<dyn Iterator<Item = Item> + '_>,
    scope: &mut Scope<'_>,
    mut evaluate: impl FnMut(Item, &mut Scope<'_>) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let mut results = Vec::new();
    for item in items {
        results.push(evaluate(item, scope)?);
    }
    Ok(results)
}

fn insert(entries: &mut BTreeMap<MapKey, Value>, key: MapKey, value: Value) -> Result<(), Failure> {
    if entries.contains_key(&key) {
        return Err(Failure::error("insert failed: key already exists"));
    }
    entries.insert(key, value);
    Ok(())
}
