//! Lists.

use super::basic::{strings, truth};
use super::function::{DEPTH, Function, arg, boolean, error, int, items, paid, paid_list, text};
use super::numbers::counted;
use crate::flux::resourceset::template::budget::Budget;
use crate::flux::resourceset::template::fault::Fault;
use crate::flux::resourceset::template::functions::function::Parameter::{Any, Int, Text};
use crate::flux::resourceset::template::value::{Items, Kind, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("list", &[], Some(Any), |a, budget| paid_list(a.to_vec(), budget)),
    Function::new("tuple", &[], Some(Any), |a, budget| paid_list(a.to_vec(), budget)),
    Function::new("join", &[Text, Any], None, |a, budget| paid(strings(arg(a, 1))?.join(text(a, 0)), budget)),
    Function::new("toStrings", &[Any], None, |a, _| Ok(Value::texts(strings(arg(a, 0))?))),
    Function::new("sortAlpha", &[Any], None, |a, _| {
        let mut sorted = strings(arg(a, 0))?;
        sorted.sort();
        Ok(Value::texts(sorted))
    }),
    Function::new("first", &[Any], None, first),
    Function::new("mustFirst", &[Any], None, first),
    Function::new("last", &[Any], None, last),
    Function::new("mustLast", &[Any], None, last),
    Function::new("rest", &[Any], None, rest),
    Function::new("mustRest", &[Any], None, rest),
    Function::new("initial", &[Any], None, initial),
    Function::new("mustInitial", &[Any], None, initial),
    Function::new("append", &[Any, Any], None, append),
    Function::new("push", &[Any, Any], None, append),
    Function::new("mustAppend", &[Any, Any], None, append),
    Function::new("mustPush", &[Any, Any], None, append),
    Function::new("prepend", &[Any, Any], None, prepend),
    Function::new("mustPrepend", &[Any, Any], None, prepend),
    Function::new("reverse", &[Any], None, reverse),
    Function::new("mustReverse", &[Any], None, reverse),
    Function::new("compact", &[Any], None, compact),
    Function::new("mustCompact", &[Any], None, compact),
    Function::new("uniq", &[Any], None, uniq),
    Function::new("mustUniq", &[Any], None, uniq),
    Function::new("without", &[Any], Some(Any), without),
    Function::new("mustWithout", &[Any], Some(Any), without),
    Function::new("has", &[Any, Any], None, has),
    Function::new("mustHas", &[Any, Any], None, has),
    Function::new("concat", &[], Some(Any), concat),
    Function::new("slice", &[Any], Some(Any), slice),
    Function::new("mustSlice", &[Any], Some(Any), slice),
    Function::new("chunk", &[Int, Any], None, chunk),
    Function::new("mustChunk", &[Int, Any], None, chunk),
    Function::new("splitList", &[Text, Text], None, |a, budget| {
        budget.bytes(text(a, 1).len() * 8)?;
        Ok(Value::texts(split(text(a, 1), text(a, 0))))
    }),
    Function::new("until", &[Int], None, |a, budget| {
        let stop = int(a, 0);
        range(0, stop, if stop < 0 { -1 } else { 1 }, budget)
    }),
    Function::new("untilStep", &[Int, Int, Int], None, |a, budget| range(int(a, 0), int(a, 1), int(a, 2), budget)),
];

/// Splits a text. With an empty separator, Go splits between characters, without empty strings at the ends.
pub(super) fn split<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    if separator.is_empty() {
        let ends = text.char_indices().map(|(at, c)| (at, at + c.len_utf8()));
        return ends.filter_map(|(start, end)| text.get(start..end)).collect();
    }
    text.split(separator).collect()
}

fn nil() -> Value {
    Value::new(Kind::Nil)
}

fn first(arguments: &[Value], _: &mut Budget) -> Result<Value, Fault> {
    Ok(items(arg(arguments, 0), "take the first item of")?.first().cloned().unwrap_or_else(nil))
}

fn last(arguments: &[Value], _: &mut Budget) -> Result<Value, Fault> {
    Ok(items(arg(arguments, 0), "take the last item of")?.last().cloned().unwrap_or_else(nil))
}

fn rest(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    paid_list(
        items(arg(arguments, 0), "take the items after the first item of")?.iter().skip(1).cloned().collect(),
        budget,
    )
}

fn initial(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let items = items(arg(arguments, 0), "take the items before the last item of")?;
    paid_list(items.get(..items.len().saturating_sub(1)).unwrap_or_default().to_vec(), budget)
}

fn append(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let mut list = items(arg(arguments, 0), "append to")?.to_vec();
    list.push(arg(arguments, 1).clone());
    paid_list(list, budget)
}

fn prepend(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let mut list = vec![arg(arguments, 1).clone()];
    list.extend_from_slice(items(arg(arguments, 0), "prepend to")?);
    paid_list(list, budget)
}

fn reverse(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    paid_list(items(arg(arguments, 0), "reverse")?.iter().rev().cloned().collect(), budget)
}

fn compact(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let kept = items(arg(arguments, 0), "compact")?.iter().filter(|item| truth(item));
    paid_list(kept.cloned().collect(), budget)
}

fn uniq(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let mut kept: Vec<Value> = Vec::new();
    for item in items(arg(arguments, 0), "remove duplicates from")? {
        budget.bytes(kept.len())?;
        if !kept.iter().any(|known| known.deep_equal(item, DEPTH)) {
            kept.push(item.clone());
        }
    }
    paid_list(kept, budget)
}

fn without(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let omitted = arguments.get(1..).unwrap_or_default();
    let list = items(arg(arguments, 0), "remove items from")?.iter();
    let kept = list.filter(|item| !omitted.iter().any(|omitted| omitted.deep_equal(item, DEPTH)));
    paid_list(kept.cloned().collect(), budget)
}

fn has(arguments: &[Value], _: &mut Budget) -> Result<Value, Fault> {
    let (needle, list) = (arg(arguments, 0), arg(arguments, 1));
    if matches!(list.kind, Kind::Nil) {
        return boolean(false);
    }
    boolean(items(list, "search")?.iter().any(|item| item.deep_equal(needle, DEPTH)))
}

fn concat(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let mut all = Vec::new();
    for list in arguments {
        all.extend_from_slice(items(list, "concatenate")?);
    }
    paid_list(all, budget)
}

fn slice(arguments: &[Value], _: &mut Budget) -> Result<Value, Fault> {
    let list = arg(arguments, 0);
    let all = items(list, "slice")?;
    if all.is_empty() {
        return Ok(nil());
    }
    let index = |at: usize, otherwise: usize| match arguments.get(at) {
        Some(value) => usize::try_from(super::numbers::whole(value)).ok(),
        None => Some(otherwise),
    };
    let range = index(1, 0).zip(index(2, all.len()));
    let found = range.and_then(|(start, end)| all.get(start..end)).ok_or_else(|| error("the slice is out of range"))?;
    let of = match list.kind {
        Kind::List(_, of) => of,
        _ => Items::Any,
    };
    Ok(Value::new(Kind::List(found.into(), of)))
}

fn chunk(arguments: &[Value], _: &mut Budget) -> Result<Value, Fault> {
    let size = usize::try_from(int(arguments, 0)).ok().filter(|size| *size > 0);
    let size = size.ok_or_else(|| error("a chunk must have at least one item"))?;
    let list = items(arg(arguments, 1), "split")?;
    let chunks = list.chunks(size).map(|chunk| Value::list(chunk.to_vec()));
    Ok(Value::new(Kind::List(chunks.collect(), Items::List)))
}

fn range(from: i64, to: i64, by: i64, budget: &mut Budget) -> Result<Value, Fault> {
    let numbers = counted(from, to, by, budget)?.into_iter();
    Ok(Value::new(Kind::List(numbers.map(|number| Value::new(Kind::Int(number))).collect(), Items::Int)))
}
