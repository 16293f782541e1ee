//! The constraints of a schema other than its structure: values, lengths, patterns, formats and combinations.

use super::format::{fault_of_float, fault_of_integer, fault_of_text, fault_of_typed_text};
use super::metadata::short;
use super::mismatch::Fault;
use super::path::Path;
use super::state::Walk;
use super::value::{has_type, is_null, is_unknown, scalar};
use crate::api::schema::{Constraints, Link, Range, Schema, Type};
use crate::base::go_regexp::{Refused, Regexp};
use crate::base::similar_names::did_you_mean;
use crate::cel::Budget;
use crate::kube::quantity::Quantity;
use crate::yaml::{Node, Scalar, Value};

/// The format of the built-in schema of quantities.
const QUANTITY: &str = "quantity";

/// The steps of a pattern that cost as much as one step of a rule.
const MATCHES_PER_STEP: usize = 25;

/// The maximum number of listed values of an enumeration.
const MAX_SHOWN: usize = 12;

/// Reports the constraints that a value violates.
pub(super) fn check_constraints(node: &Node, schema: &Schema, path: &Path<'_>, walk: &mut Walk) {
    let Some(constraints) = &schema.constraints else { return };
    if is_unknown(node) || !walk.step() {
        return;
    }
    if constraints.format.as_deref() == Some(QUANTITY) && walk.is_typed() {
        check_quantity(node, path, walk);
        return;
    }
    let (is_typed, is_affordable) = (walk.is_typed(), !walk.rules.is_over());
    if let Some((message, help)) = fault(node, schema, constraints, is_typed, &mut walk.rules) {
        let is_base64 = constraints.format.as_deref() == Some("byte");
        walk.add_at(if is_base64 { Fault::Notation } else { Fault::Value }, node, path, message, help);
        return;
    }
    let mut budget = MAX_COMBINED;
    let rules = &mut walk.rules;
    let mut matches = |link: &Link, budget: &mut usize| satisfies(node, link, is_typed, budget, rules);
    let fault = if constraints.all_of.iter().any(|link| !matches(link, &mut budget)) {
        Some("matches not all of the alternatives that the schema requires")
    } else if !constraints.any_of.is_empty() && !constraints.any_of.iter().any(|link| matches(link, &mut budget)) {
        Some("matches none of the alternatives of the schema")
    } else if !constraints.one_of.is_empty() {
        match constraints.one_of.iter().filter(|link| matches(link, &mut budget)).count() {
            0 => Some("matches none of the alternatives of the schema"),
            1 => None,
            _ => Some("matches several alternatives of the schema, which exclude each other"),
        }
    } else {
        None
    };
    let fault = fault.or_else(|| {
        let is_excluded = constraints.not.as_ref().is_some_and(|link| matches(link, &mut budget));
        is_excluded.then_some("is a value that the schema excludes")
    });
    if is_affordable && walk.rules.is_over() {
        let message = "cannot be checked: the patterns of the schema take too many steps".to_owned();
        walk.add_at(Fault::Limit, node, path, message, None);
        return;
    }
    if let Some(message) = fault.filter(|_| budget > 0) {
        let help = alternatives(constraints);
        walk.add_at(Fault::Value, node, path, message.to_owned(), help);
    }
}

/// Reports an integer of a schema without constraints that has more than 64 bits.
pub(super) fn check_size(node: &Node, schema: &Schema, path: &Path<'_>, walk: &mut Walk) {
    if matches!(schema.value_type, Some(Type::Integer | Type::IntOrString))
        && !is_unknown(node)
        && let Some((message, help)) = fault(node, schema, &Constraints::default(), walk.is_typed(), &mut walk.rules)
    {
        walk.add_at(Fault::Value, node, path, message, help);
    }
}

/// The maximum number of comparisons for the combinations of one value.
const MAX_COMBINED: usize = 100_000;

/// Describes the alternatives that only differ in their required fields.
fn alternatives(constraints: &Constraints) -> Option<String> {
    let links = if constraints.one_of.is_empty() { &constraints.any_of } else { &constraints.one_of };
    let names: Vec<String> =
        links.iter().flat_map(|link| link.required.iter()).map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| format!("set one of {}", names.join(", ")))
}

/// Returns whether a value satisfies a schema, with all schemas below it.
fn satisfies(node: &Node, schema: &Schema, is_typed: bool, budget: &mut usize, rules: &mut Budget) -> bool {
    if *budget == 0 {
        return true;
    }
    *budget -= 1;
    if is_unknown(node) || (is_null(node) && schema.nullable) {
        return true;
    }
    if schema.value_type.is_some_and(|expected| !has_type(node, expected)) {
        return false;
    }
    if schema.required.iter().any(|name| node.is_map() && node.get(name).is_none_or(|value| is_typed && is_null(value)))
    {
        return false;
    }
    let fields = node.entries().iter().filter_map(|entry| Some((&entry.node, schema.field(&entry.key)?)));
    let mut satisfies =
        |node: &Node, schema: &Schema, budget: &mut usize| satisfies(node, schema, is_typed, budget, &mut *rules);
    if fields.into_iter().any(|(node, schema)| !is_null(node) && !satisfies(node, schema, budget)) {
        return false;
    }
    if let Some(items) = &schema.items
        && node.items().iter().any(|item| !satisfies(item, items, budget))
    {
        return false;
    }
    let Some(constraints) = &schema.constraints else { return true };
    let is_combined = constraints.all_of.iter().all(|link| satisfies(node, link, budget))
        && (constraints.any_of.is_empty() || constraints.any_of.iter().any(|link| satisfies(node, link, budget)))
        && (constraints.one_of.is_empty()
            || constraints.one_of.iter().filter(|link| satisfies(node, link, budget)).count() == 1)
        && constraints.not.as_ref().is_none_or(|link| !satisfies(node, link, budget));
    is_combined && fault(node, schema, constraints, is_typed, rules).is_none()
}

fn check_quantity(node: &Node, path: &Path<'_>, walk: &mut Walk) {
    let text = match scalar(node) {
        Some(Scalar::String(text)) => text,
        Some(Scalar::Null | Scalar::Int(_) | Scalar::Float(_)) => return,
        _ => {
            let message = format!("is {} instead of a quantity", super::value::type_of(node));
            walk.add_at(Fault::Type, node, path, message, None);
            return;
        }
    };
    if Quantity::parse(text).is_none() {
        let message = format!("is `{}`, which is not a valid quantity", short(text));
        let help = "write a number with a suffix, as in `500m`, `2Gi` or `10G`";
        walk.add_at(Fault::Notation, node, path, message, Some(help.to_owned()));
    }
}

/// The message and the help for a constraint that a value violates, apart from combinations.
fn fault(
    node: &Node,
    schema: &Schema,
    constraints: &Constraints,
    is_typed: bool,
    rules: &mut Budget,
) -> Option<(String, Option<String>)> {
    if let Some(fault) = fault_of_enum(node, constraints) {
        return Some(fault);
    }
    match (&node.value, scalar(node)) {
        (Value::Seq(items), _) => fault_of_count(items.len(), constraints.item_count, "item"),
        (Value::Map(entries), _) => fault_of_count(entries.len(), constraints.property_count, "field"),
        (_, Some(Scalar::String(text))) => fault_of_string(text, schema, constraints, is_typed, rules),
        (_, Some(Scalar::Int(number))) => {
            #[expect(clippy::cast_precision_loss, reason = "the limits of schemas are floating-point numbers too")]
            let float = number as f64;
            fault_of_number(float, schema, constraints)
        }
        (_, Some(Scalar::Float(number))) => fault_of_number(number, schema, constraints),
        _ => None,
    }
}

fn fault_of_enum(node: &Node, constraints: &Constraints) -> Option<(String, Option<String>)> {
    let values = &constraints.enum_values;
    let value = scalar(node)?;
    if values.is_empty() {
        return None;
    }
    let equals = |known: &serde_json::Value| match &value {
        Scalar::Null => known.is_null(),
        Scalar::Bool(value) => known.as_bool() == Some(*value),
        Scalar::Int(number) => known.as_i64().is_some_and(|known| i128::from(known) == *number),
        Scalar::Float(number) => known.as_f64() == Some(*number),
        Scalar::String(text) => known.as_str() == Some(text),
    };
    if values.iter().any(equals) {
        return None;
    }
    let names: Vec<&str> = values.iter().filter_map(serde_json::Value::as_str).collect();
    let text = node.text().unwrap_or_default();
    let listed: Vec<String> = values.iter().take(MAX_SHOWN).map(|value| format!("`{}`", plain(value))).collect();
    let more = if values.len() > MAX_SHOWN { " and others" } else { "" };
    let meant = did_you_mean(text, names).map(|meant| format!("did you mean `{meant}`? "));
    let help = format!("{}use one of {}{more}", meant.unwrap_or_default(), listed.join(", "));
    Some((format!("is `{}`, which is not a valid value", short(text)), Some(help)))
}

fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn fault_of_count(count: usize, range: Range, noun: &str) -> Option<(String, Option<String>)> {
    let count = count as u64;
    let plural = |limit: u64| if limit == 1 { "" } else { "s" };
    if let Some(min) = range.min.filter(|min| count < *min) {
        return Some((format!("has {count} {noun}{}, but needs {min}", plural(count)), None));
    }
    let max = range.max.filter(|max| count > *max)?;
    Some((format!("has {count} {noun}s, but {max} are allowed"), None))
}

fn fault_of_string(
    text: &str,
    schema: &Schema,
    constraints: &Constraints,
    is_typed: bool,
    rules: &mut Budget,
) -> Option<(String, Option<String>)> {
    let length = text.chars().count() as u64;
    if let Some(min) = constraints.length.min.filter(|min| length < *min) {
        let message = if text.is_empty() { "is empty".to_owned() } else { format!("is shorter than {min} characters") };
        return Some((message, None));
    }
    if let Some(max) = constraints.length.max.filter(|max| length > *max) {
        return Some((format!("has {length} characters, but {max} are allowed"), None));
    }
    if let Some(pattern) = &constraints.pattern {
        if rules.is_over() {
            return None;
        }
        let is_match = match constraints.compiled_pattern.get_or_init(|| Regexp::compile_of_schema(pattern)) {
            Ok(compiled) => {
                let steps = compiled.steps(text) / MATCHES_PER_STEP + compiled.steps_of_compilation();
                rules.spend(steps).is_err() || compiled.is_match(text)
            }
            Err(Refused::Size) => {
                rules.end();
                true
            }
            // The API server rejects a CRD whose pattern it cannot compile.
            Err(_) => true,
        };
        if !is_match {
            let shown = short(pattern);
            let message = format!("is `{}`, which does not match the pattern `{shown}`", short(text));
            return Some((message, duration_help(pattern, text)));
        }
    }
    let format = constraints.format.as_deref().filter(|_| schema.value_type != Some(Type::IntOrString))?;
    let fault = if is_typed { fault_of_typed_text(format, text) } else { fault_of_text(format, text) };
    fault.map(|fault| (format!("is `{}`, which is not {fault}", short(text)), None))
}

/// Explains the pattern of durations, which most Flux objects have.
fn duration_help(pattern: &str, text: &str) -> Option<String> {
    let is_duration = pattern.contains("(ms|s|m") && pattern.starts_with("^([0-9]+");
    let units = if pattern.contains("|h)") { "`h`, `m`, `s` and `ms`" } else { "`m`, `s` and `ms`" };
    let example = if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
        format!("`{text}s`")
    } else {
        "`10m`".to_owned()
    };
    is_duration.then(|| format!("write a number with a unit, as in {example}; the units are {units}"))
}

fn fault_of_number(number: f64, schema: &Schema, constraints: &Constraints) -> Option<(String, Option<String>)> {
    let format = constraints.format.as_deref().unwrap_or_default();
    let fault = match schema.value_type {
        Some(Type::Integer | Type::IntOrString) => fault_of_integer(format, number),
        _ => fault_of_float(format, number),
    };
    if let Some(fault) = fault {
        return Some((format!("is `{number}`, which is not {fault}"), None));
    }
    if let Some(bound) = constraints.minimum
        && (number < bound.value || bound.exclusive && number <= bound.value)
    {
        let limit = if bound.exclusive { "greater than" } else { "at least" };
        return Some((format!("is `{number}`, but must be {limit} {}", bound.value), None));
    }
    if let Some(bound) = constraints.maximum
        && (number > bound.value || bound.exclusive && number >= bound.value)
    {
        let limit = if bound.exclusive { "less than" } else { "at most" };
        return Some((format!("is `{number}`, but must be {limit} {}", bound.value), None));
    }
    let factor = constraints.multiple_of.filter(|factor| *factor > 0.0)?;
    let quotient = number / factor;
    ((quotient - quotient.round()).abs() > 1e-9)
        .then(|| (format!("is `{number}`, but must be a multiple of {factor}"), None))
}
