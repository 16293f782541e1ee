//! The cost of a validation, which the library does not limit.
//!
//! A schema with a few references can take exponential time, and a schema that references itself never ends.

use serde_json::Value;

use crate::base::go_regexp::expanded_size;
use crate::text::Index;

/// The maximum number of schemas that a validation applies.
const MAX_COST: u64 = 1_000_000;
/// The maximum number of pairs of a schema and a value.
pub(super) const MAX_PAIRS: usize = 100_000;
/// The maximum depth of schemas within each other, including references.
const MAX_DEPTH: usize = 200;

/// A value that represents the name of a property.
static NAME: Value = Value::Null;

/// The cost of a validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cost {
    /// The cost is within the limits.
    Affordable(u64),
    /// The cost exceeds a limit.
    TooHigh,
    /// The schema has a reference that is not followed.
    Unknown,
}

/// Returns whether the cost of a validation is within the limits.
pub(super) fn cost(schema: &Value, instance: &Value) -> Cost {
    let mut costs = Costs { root: schema, known: Index::default(), pairs: 0, is_open: false };
    match costs.of(schema, instance, 0) {
        Some(total) => Cost::Affordable(total.max(costs.pairs as u64)),
        None if costs.is_open => Cost::Unknown,
        None => Cost::TooHigh,
    }
}

/// The costs of the parts of a validation.
struct Costs<'a> {
    root: &'a Value,
    /// The cost of a schema and a value, by their addresses; `None` while it is computed.
    known: Index<(usize, usize), Option<u64>>,
    pairs: usize,
    /// Whether a reference is unknown.
    is_open: bool,
}

impl<'a> Costs<'a> {
    /// The number of schemas that the validation of a value applies; `None` if it exceeds a limit.
    fn of(&mut self, schema: &'a Value, instance: &'a Value, depth: usize) -> Option<u64> {
        let Some(keywords) = schema.as_object() else { return Some(1) };
        let key = (std::ptr::from_ref(schema).addr(), std::ptr::from_ref(instance).addr());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        self.pairs += 1;
        if depth > MAX_DEPTH || self.pairs > MAX_PAIRS {
            return None;
        }
        self.known.insert(key, None);
        let mut total = 1;
        for (keyword, value) in keywords {
            total += cost_of_patterns(keyword, value, instance);
            if total > MAX_COST {
                return None;
            }
            let Some(parts) = self.parts(keyword, value, instance) else {
                self.is_open = true;
                return None;
            };
            for (schema, instance) in parts {
                total += self.of(schema, instance, depth + 1)?;
                if total > MAX_COST {
                    return None;
                }
            }
        }
        self.known.insert(key, Some(total));
        Some(total)
    }

    /// The schemas that a keyword applies, with their values; `None` if a reference is unknown.
    fn parts(&self, keyword: &str, value: &'a Value, instance: &'a Value) -> Option<Vec<(&'a Value, &'a Value)>> {
        let mut parts = Vec::new();
        let properties = || instance.as_object().into_iter().flat_map(serde_json::Map::values);
        let items = || instance.as_array().into_iter().flatten();
        let several = || value.as_array().into_iter().flatten();
        let by_name = || value.as_object().into_iter().flatten();
        match keyword {
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                if let Some(reference) = value.as_str() {
                    parts.push((self.root.pointer(&decoded(reference.strip_prefix('#')?))?, instance));
                }
            }
            "allOf" | "anyOf" | "oneOf" => parts.extend(several().map(|schema| (schema, instance))),
            "not" | "if" | "then" | "else" => parts.push((value, instance)),
            "dependentSchemas" | "dependencies" => parts.extend(by_name().map(|(_, schema)| (schema, instance))),
            "properties" => {
                parts.extend(by_name().filter_map(|(name, schema)| Some((schema, instance.get(name)?))));
            }
            "patternProperties" => {
                parts.extend(by_name().flat_map(|(_, schema)| properties().map(move |value| (schema, value))));
            }
            "additionalProperties" | "unevaluatedProperties" => parts.extend(properties().map(|own| (value, own))),
            "propertyNames" => parts.extend(properties().map(|_| (value, &NAME))),
            "items" | "prefixItems" if value.is_array() => {
                parts.extend(several().zip(items()));
            }
            "items" | "additionalItems" | "contains" | "unevaluatedItems" => {
                parts.extend(items().map(|item| (value, item)));
            }
            _ => {}
        }
        Some(parts)
    }
}

/// The number of pairs of a byte of a text and a byte of a pattern that take as much time as a schema.
const PAIRS_OF_SCHEMA: usize = 300;

/// The cost of the patterns of a keyword.
fn cost_of_patterns(keyword: &str, value: &Value, instance: &Value) -> u64 {
    let cost = |pattern: &str, length: usize| {
        let pairs = expanded_size(pattern).saturating_mul(length) / PAIRS_OF_SCHEMA;
        u64::try_from(pairs).unwrap_or(MAX_COST).min(MAX_COST)
    };
    let names = || instance.as_object().into_iter().flat_map(serde_json::Map::keys).map(String::len).sum();
    match keyword {
        "pattern" => value.as_str().zip(instance.as_str()).map_or(0, |(pattern, text)| cost(pattern, text.len())),
        "propertyNames" => value.get("pattern").and_then(Value::as_str).map_or(0, |pattern| cost(pattern, names())),
        "patternProperties" => {
            let patterns = value.as_object().into_iter().flat_map(serde_json::Map::keys);
            patterns.fold(0, |total, pattern| total.saturating_add(cost(pattern, names())).min(MAX_COST))
        }
        _ => 0,
    }
}

/// A JSON pointer in a URL without its percent encoding.
fn decoded(pointer: &str) -> String {
    pointer.replace("%24", "$").replace("%20", " ").replace("%7E", "~").replace("%25", "%")
}
