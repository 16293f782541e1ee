//! The fields in which two states of an object differ.
//!
//! The order of fields is without effect. Items of a list are compared by their keys, if the schema declares keys or all
//! items have a unique `name`. Other lists are compared as sequences.

use std::collections::BTreeMap;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::model::FieldChange;
use crate::api::catalog::{Releases, built_in};
use crate::api::schema::{Layout, Schema};
use crate::flux::query::field::shown;
use crate::kube::Object;
use crate::text::Span;
use crate::yaml::{Key, Node, Path, Reader, Value, to_json};

/// The maximum number of fields in which two states of an object are compared.
const MAX_FIELDS: usize = 1_000;

/// The longest list that is compared as a sequence. A longer one is one field.
const MAX_ITEMS: usize = 5_000;

/// The maximum number of comparisons of items in two states of an object. Further lists are one field each.
const MAX_STEPS: usize = 30_000_000;

/// Returns the changed fields, in the order of the later object.
pub(super) fn compare(before: &Object, after: &Object) -> Vec<FieldChange> {
    let version = after.api_version().rsplit('/').next().unwrap_or_default();
    let found = built_in(after.group(), version, after.kind(), &Releases::default());
    let mut comparison = Comparison::default();
    let pair = Pair { before: &before.node, after: &after.node };
    comparison.nodes(pair, &Place::default(), found.as_ref().map(|found| &*found.schema));
    comparison.changes
}

#[derive(Default)]
struct Comparison {
    changes: Vec<FieldChange>,
    /// The maximum number of comparisons of items so far.
    steps: usize,
}

/// The same part of both states.
#[derive(Clone, Copy)]
struct Pair<'a> {
    before: &'a Node,
    after: &'a Node,
}

/// The place of a part: its name, and its path in each state.
#[derive(Clone, Default)]
struct Place {
    name: String,
    before: Path,
    after: Path,
}

impl Place {
    fn field(&self, key: &str) -> Self {
        let key = Key::Name(key.into());
        let part = shown(&Path(vec![key.clone()]));
        let dot = if self.name.is_empty() || part.starts_with('[') { "" } else { "." };
        let name = format!("{}{dot}{part}", self.name);
        Self { name, before: self.before.child(key.clone()), after: self.after.child(key) }
    }

    /// The place of an item. `before` and `after` are its indices; the name of an item without a key is an index.
    fn item(&self, key: Option<&str>, before: Option<usize>, after: Option<usize>) -> Self {
        let index = after.or(before).unwrap_or_default();
        let name = key.map_or_else(|| format!("{}[{index}]", self.name), |key| format!("{}[{key}]", self.name));
        Self {
            name,
            before: self.before.child(Key::Index(before.unwrap_or(index))),
            after: self.after.child(Key::Index(after.unwrap_or(index))),
        }
    }
}

impl Comparison {
    fn nodes(&mut self, pair: Pair<'_>, place: &Place, schema: Option<&Schema>) {
        if self.changes.len() >= MAX_FIELDS {
            return;
        }
        match (&pair.before.value, &pair.after.value) {
            (Value::Map(_), Value::Map(_)) => self.mappings(pair, place, schema),
            (Value::Seq(_), Value::Seq(_)) => self.lists(pair, place, schema),
            _ if is_equal(pair.before, pair.after) => {}
            _ => self.add(place, Some(pair.before), Some(pair.after)),
        }
    }

    fn mappings(&mut self, pair: Pair<'_>, place: &Place, schema: Option<&Schema>) {
        let set = |node: &Node, key: &str| node.get(key).is_some_and(|value| !value.is_null());
        for entry in pair.after.entries().iter().filter(|entry| !entry.node.is_null()) {
            let own = place.field(&entry.key);
            match pair.before.get(&entry.key).filter(|value| !value.is_null()) {
                Some(before) => {
                    let schema = schema.and_then(|schema| schema.field(&entry.key));
                    self.nodes(Pair { before, after: &entry.node }, &own, schema);
                }
                None => self.add(&own, None, Some(&entry.node)),
            }
        }
        for entry in pair.before.entries() {
            if !entry.node.is_null() && !set(pair.after, &entry.key) {
                self.add(&place.field(&entry.key), Some(&entry.node), None);
            }
        }
    }

    fn lists(&mut self, pair: Pair<'_>, place: &Place, schema: Option<&Schema>) {
        let items = schema.and_then(|schema| schema.items.as_deref());
        match keys_of(pair, schema) {
            Some(keys) => self.keyed_lists(pair, place, items, &keys),
            None => self.sequences(pair, place, items),
        }
    }

    fn keyed_lists(&mut self, pair: Pair<'_>, place: &Place, items: Option<&Schema>, keys: &[String]) {
        let indexed = |list: &Node| -> BTreeMap<String, usize> {
            let entries = list.items().iter().enumerate();
            entries.filter_map(|(at, item)| Some((key_of(item, keys)?, at))).collect()
        };
        let (before, after) = (indexed(pair.before), indexed(pair.after));
        for (at, item) in pair.after.items().iter().enumerate() {
            let Some(key) = key_of(item, keys) else { continue };
            let own = place.item(Some(&key), before.get(&key).copied(), Some(at));
            match before.get(&key).and_then(|at| pair.before.items().get(*at)) {
                Some(before) => self.nodes(Pair { before, after: item }, &own, items),
                None => self.add(&own, None, Some(item)),
            }
        }
        for (at, item) in pair.before.items().iter().enumerate() {
            let Some(key) = key_of(item, keys).filter(|key| !after.contains_key(key)) else { continue };
            self.add(&place.item(Some(&key), Some(at), None), Some(item), None);
        }
    }

    fn sequences(&mut self, pair: Pair<'_>, place: &Place, items: Option<&Schema>) {
        let (before, after) = (pair.before.items(), pair.after.items());
        self.steps = self.steps.saturating_add(before.len().saturating_mul(after.len()));
        if before.len().max(after.len()) > MAX_ITEMS || self.steps > MAX_STEPS {
            if !is_equal(pair.before, pair.after) {
                self.add(place, Some(pair.before), Some(pair.after));
            }
            return;
        }
        let texts = |items: &[Node]| -> Vec<String> { items.iter().map(canonical).collect() };
        for operation in capture_diff_slices(Algorithm::Myers, &texts(before), &texts(after)) {
            let (old, new) = (operation.old_range(), operation.new_range());
            if matches!(operation, DiffOp::Equal { .. }) {
                continue;
            }
            for offset in 0..old.len().max(new.len()) {
                let at = |range: &std::ops::Range<usize>| (offset < range.len()).then(|| range.start + offset);
                let (old, new) = (at(&old), at(&new));
                let own = place.item(None, old, new);
                match (old.and_then(|at| before.get(at)), new.and_then(|at| after.get(at))) {
                    (Some(before), Some(after)) => self.nodes(Pair { before, after }, &own, items),
                    (before, after) => self.add(&own, before, after),
                }
            }
        }
    }

    fn add(&mut self, place: &Place, before: Option<&Node>, after: Option<&Node>) {
        let Some(decisive) = after.or(before).filter(|_| self.changes.len() < MAX_FIELDS) else { return };
        self.changes.push(FieldChange {
            field: place.name.clone(),
            before: before.map(|_| place.before.clone()),
            after: after.map(|_| place.after.clone()),
            cause: cause_of(decisive),
        });
    }
}

/// The place that sets a value.
fn cause_of(node: &Node) -> Span {
    node.span().clone()
}

/// The keys by which the items of two lists correspond: those of the schema, or `name`.
fn keys_of(pair: Pair<'_>, schema: Option<&Schema>) -> Option<Vec<String>> {
    let declared = match schema.map(|schema| &schema.layout) {
        Some(Layout::Map(keys)) => Some(keys.iter().map(ToString::to_string).collect::<Vec<_>>()),
        _ => None,
    };
    let is_unique = |list: &Node, keys: &[String]| {
        let mut seen: Vec<String> = list.items().iter().filter_map(|item| key_of(item, keys)).collect();
        seen.sort_unstable();
        seen.len() == list.items().len() && seen.windows(2).all(|pair| pair.first() != pair.last())
    };
    let candidates = declared.into_iter().chain([vec!["name".to_owned()]]);
    candidates.into_iter().find(|keys| is_unique(pair.before, keys) && is_unique(pair.after, keys))
}

/// The key of an item, such as `name=web`; `None` if the item has none of the key's fields.
fn key_of(item: &Node, keys: &[String]) -> Option<String> {
    let parts: Vec<String> = keys.iter().filter_map(|key| Some(format!("{key}={}", item.get(key)?.text()?))).collect();
    (!parts.is_empty()).then(|| parts.join(","))
}

fn is_equal(before: &Node, after: &Node) -> bool {
    match (&before.value, &after.value) {
        (Value::Scalar(one, style), Value::Scalar(other, other_style)) if one == other && style == other_style => true,
        _ => canonical(before) == canonical(after),
    }
}

/// A text that is equal for equal values, whatever their notation.
pub(super) fn canonical(node: &Node) -> String {
    to_json(node, Reader::Kustomize).to_string()
}
