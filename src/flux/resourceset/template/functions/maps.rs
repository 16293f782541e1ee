//! Mappings. Go returns keys and values in random order; here they are sorted by key.

use std::collections::BTreeMap;

use arcstr::ArcStr;

use super::function::{Function, arg, boolean, error, map, paid_list, text};
use crate::flux::resourceset::template::budget::Budget;
use crate::flux::resourceset::template::fault::Fault;
use crate::flux::resourceset::template::functions::function::Parameter::{Any, Map as Mapping, Text};
use crate::flux::resourceset::template::go;
use crate::flux::resourceset::template::value::{Kind, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("dict", &[], Some(Any), dict),
    Function::new("get", &[Mapping, Text], None, |a, _| {
        let found = map(a, 0).and_then(|map| map.borrow().get(text(a, 1)).cloned());
        Ok(found.unwrap_or_else(|| Value::text("")))
    }),
    Function::new("set", &[Mapping, Text, Any], None, set),
    Function::new("unset", &[Mapping, Text], None, |a, _| {
        if let Some(map) = map(a, 0) {
            map.borrow_mut().remove(text(a, 1));
        }
        Ok(arg(a, 0).clone())
    }),
    Function::new("hasKey", &[Mapping, Text], None, |a, _| {
        boolean(map(a, 0).is_some_and(|map| map.borrow().contains_key(text(a, 1))))
    }),
    Function::new("pluck", &[Text], Some(Mapping), |a, budget| {
        let maps = (1..a.len()).filter_map(|at| map(a, at));
        paid_list(maps.filter_map(|map| map.borrow().get(text(a, 0)).cloned()).collect(), budget)
    }),
    Function::new("keys", &[], Some(Mapping), |a, _| {
        let maps = (0..a.len()).filter_map(|at| map(a, at));
        Ok(Value::texts(maps.flat_map(|map| map.borrow().keys().cloned().collect::<Vec<_>>())))
    }),
    Function::new("values", &[Mapping], None, |a, budget| {
        let values = map(a, 0).map(|map| map.borrow().values().cloned().collect());
        paid_list(values.unwrap_or_default(), budget)
    }),
    Function::new("pick", &[Mapping], Some(Text), |a, _| Ok(chosen(a, true))),
    Function::new("omit", &[Mapping], Some(Text), |a, _| Ok(chosen(a, false))),
    Function::new("dig", &[], Some(Any), dig),
];

fn dict(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    budget.bytes(size_of_val(arguments))?;
    let mut entries: BTreeMap<ArcStr, Value> = BTreeMap::new();
    for pair in arguments.chunks(2) {
        let key = go::sprint(arg(pair, 0))?;
        entries.insert(key.into(), pair.get(1).cloned().unwrap_or_else(|| Value::text("")));
    }
    Ok(Value::map(entries))
}

fn set(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    budget.bytes(size_of::<Value>())?;
    let map = map(arguments, 0).ok_or_else(|| error("cannot set a key of a null value"))?;
    map.borrow_mut().insert(text(arguments, 1).into(), arg(arguments, 2).clone());
    Ok(arg(arguments, 0).clone())
}

fn chosen(arguments: &[Value], wanted: bool) -> Value {
    let names: Vec<&str> = (1..arguments.len()).map(|at| text(arguments, at)).collect();
    let entries = map(arguments, 0).map(|map| map.borrow().clone()).unwrap_or_default();
    let kept = entries.into_iter().filter(|(key, _)| names.contains(&&**key) == wanted);
    Value::map(kept.collect())
}

/// The value at a path of keys, or the default if a key is missing. The default is the argument before the mapping.
fn dig(arguments: &[Value], _: &mut Budget) -> Result<Value, Fault> {
    let [keys @ .., otherwise, found] = arguments else { return Err(error("it requires at least three arguments")) };
    if keys.is_empty() {
        return Err(error("it requires at least three arguments"));
    }
    let mut found = found.clone();
    for key in keys {
        let (Kind::Text(key), Kind::Map(map)) = (&key.kind, &found.kind) else {
            return Err(error("it requires keys, a default and a mapping of mappings"));
        };
        let Some(next) = map.borrow().get(key).cloned() else { return Ok(otherwise.clone()) };
        found = next;
    }
    Ok(found)
}
