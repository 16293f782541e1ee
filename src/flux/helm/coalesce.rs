//! The values of a chart: the values of a release over the default values of the chart and its subcharts.
//!
//! Source: `CoalesceValues` and `ProcessDependencies` of Helm 4.

use std::collections::BTreeSet;

use super::chart::{Chart, Subchart};
use crate::text::Index;
use crate::yaml::{Entry, Name, Node, Origin, Reader, Scalar, Style, Value};

/// The values that all charts of a release share.
const GLOBAL: &str = "global";

/// The values of a subchart that are not a mapping.
#[derive(Debug, Clone)]
pub struct Mismatch {
    /// The values.
    pub node: Node,
    /// The name of the subchart.
    pub subchart: String,
}

/// Whether a null removes a default value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nulls {
    Remove,
    Keep,
}

/// Computes the values of a chart, and removes the subcharts that the values disable.
///
/// A subchart for which this depends on an unknown value becomes an unknown subchart.
pub fn coalesce(chart: &Chart, values: &Node) -> Result<(Chart, Node), Mismatch> {
    let all = coalesced(chart, values)?;
    let enabled = enabled(chart, &all, "");
    let values = coalesced(&enabled, values)?;
    Ok((enabled, values))
}

fn coalesced(chart: &Chart, values: &Node) -> Result<Node, Mismatch> {
    if !values.is_map() {
        return Ok(values.clone());
    }
    let mut all = Mapping::of(values);
    let subcharts: BTreeSet<&str> = chart.subcharts.iter().map(|subchart| &*subchart.chart.name).collect();
    for default in chart.values.entries() {
        let key = &*default.key;
        let is_subchart = subcharts.contains(key);
        let nulls = if is_subchart { Nulls::Keep } else { Nulls::Remove };
        match all.get(key) {
            Some(own) if is_null(own) => all.remove(key),
            Some(own) if own.is_map() && default.node.is_map() => {
                let source = if is_subchart { default.node.clone() } else { without_nulls(&default.node) };
                let table = tables(own, &source, nulls);
                all.set(key, table);
            }
            Some(_) => {}
            None if is_null(&default.node) => {}
            None => all.add(default.with_node(without_nulls(&default.node))),
        }
    }
    for Subchart { chart: subchart, .. } in &chart.subcharts {
        let name = &*subchart.name;
        let own = match all.get(name) {
            None => Node { value: Value::Map([].into()), origin: values.origin.clone() },
            Some(own) if own.is_map() => own.clone(),
            Some(own) if is_unknown(own) => continue,
            Some(own) => return Err(Mismatch { node: own.clone(), subchart: name.to_owned() }),
        };
        let own = with_globals(own, all.get(GLOBAL));
        all.set(name, coalesced(subchart, &own)?);
    }
    Ok(all.into_node())
}

/// Adds the global values of a parent chart to the values of a subchart.
fn with_globals(values: Node, parent: Option<&Node>) -> Node {
    let empty = Node { value: Value::Map([].into()), origin: values.origin.clone() };
    let own = values.get(GLOBAL).cloned().unwrap_or_else(|| empty.clone());
    let theirs = parent.cloned().unwrap_or(empty);
    if is_unknown(&theirs) {
        return with(&values, GLOBAL, theirs);
    }
    if !own.is_map() || !theirs.is_map() {
        return values;
    }
    let mut all = Mapping::of(&own);
    for entry in theirs.entries() {
        match all.get(&entry.key) {
            Some(known) if entry.node.is_map() && known.is_map() => {
                let table = tables(&entry.node, known, Nulls::Keep);
                all.set(&entry.key, table);
            }
            Some(known) if entry.node.is_map() != known.is_map() => {}
            _ => all.add(entry.clone()),
        }
    }
    with(&values, GLOBAL, all.into_node())
}

/// Adds the values of `under` to a mapping.
fn tables(over: &Node, under: &Node, nulls: Nulls) -> Node {
    let mut all = Mapping::of(over);
    for entry in under.entries() {
        let key = &*entry.key;
        match all.get(key) {
            Some(own) if is_null(own) && nulls == Nulls::Remove && !is_null(&entry.node) => all.remove(key),
            Some(own) if own.is_map() && entry.node.is_map() => {
                let table = tables(own, &entry.node, nulls);
                all.set(key, table);
            }
            Some(_) => {}
            None => all.add(entry.clone()),
        }
    }
    all.into_node()
}

/// The chart without the subcharts that the values disable. `path` is the path of the chart's values.
fn enabled(chart: &Chart, values: &Node, path: &str) -> Chart {
    let mut kept = Chart { subcharts: Vec::new(), ..chart.clone() };
    for Subchart { chart: subchart, condition, tags } in &chart.subcharts {
        let tagged: Vec<Option<bool>> =
            tags.iter().filter_map(|tag| values.get("tags")?.get(tag)).map(boolean).collect();
        let is_tagged = if tagged.contains(&Some(true)) {
            Some(true)
        } else if tagged.contains(&None) {
            None
        } else {
            Some(!tagged.contains(&Some(false)))
        };
        let conditions = condition.as_deref().unwrap_or_default().trim().split(',');
        let found = conditions.filter(|condition| !condition.is_empty());
        let mut found = found.filter_map(|condition| at_path(values, &format!("{path}{condition}")));
        let decided = found.find(|node| is_unknown(node) || boolean(node).is_some());
        match decided.map_or(is_tagged, boolean) {
            Some(false) => {}
            None => kept.unknown.push(subchart.name.clone()),
            Some(true) => {
                let below = enabled(subchart, values, &format!("{path}{}.", subchart.name));
                kept.subcharts.push(Subchart { chart: below, condition: condition.clone(), tags: tags.clone() });
            }
        }
    }
    kept
}

fn at_path<'a>(values: &'a Node, path: &str) -> Option<&'a Node> {
    let mut node = values;
    for key in path.split('.') {
        if is_unknown(node) {
            return Some(node);
        }
        node = node.get(key)?;
    }
    Some(node)
}

fn boolean(node: &Node) -> Option<bool> {
    match node.resolve(Reader::Kustomize) {
        Some(Scalar::Bool(value)) => Some(value),
        _ => None,
    }
}

/// A mapping that changes key by key. Values may have thousands of keys, so each change must not visit all keys.
struct Mapping {
    /// The entries in order; `None` for a removed entry.
    entries: Vec<Option<Entry>>,
    /// The positions of the entries by key.
    places: Index<Name, usize>,
    origin: Origin,
}

impl Mapping {
    /// The entries of a mapping, or no entries for another node.
    fn of(node: &Node) -> Self {
        let entries: Vec<Option<Entry>> = node.entries().iter().cloned().map(Some).collect();
        let mut places = Index::default();
        for (at, entry) in node.entries().iter().enumerate() {
            places.entry_or(entry.key.clone(), || at);
        }
        Self { entries, places, origin: node.origin.clone() }
    }

    fn get(&self, key: &str) -> Option<&Node> {
        let at = self.places.get(key)?;
        self.entries.get(*at)?.as_ref().map(|entry| &entry.node)
    }

    /// Adds an entry, or replaces the entry with the same key.
    fn add(&mut self, entry: Entry) {
        let at = *self.places.entry_or(entry.key.clone(), || self.entries.len());
        match self.entries.get_mut(at) {
            Some(old) => *old = Some(entry),
            None => self.entries.push(Some(entry)),
        }
    }

    /// Replaces the value of a key, or adds the key.
    fn set(&mut self, key: &str, node: Node) {
        let own = self.places.get(key).and_then(|at| self.entries.get(*at)?.as_ref());
        let place = || node.origin.written().clone();
        let entry = match own {
            Some(entry) => entry.with_node(node),
            None => Entry::new(key, &place(), node),
        };
        self.add(entry);
    }

    fn remove(&mut self, key: &str) {
        if let Some(old) = self.places.get(key).and_then(|at| self.entries.get_mut(*at)) {
            *old = None;
        }
    }

    fn into_node(self) -> Node {
        let entries: Vec<Entry> = self.entries.into_iter().flatten().collect();
        Node { value: Value::Map(entries.into()), origin: self.origin }
    }
}

/// Replaces the value of a key, or adds the key.
fn with(map: &Node, key: &str, node: Node) -> Node {
    let place = node.origin.written().clone();
    let entry = map.entry(key).map(|entry| entry.with_node(node.clone()));
    map.with(entry.unwrap_or_else(|| Entry::new(key, &place, node)))
}

fn without_nulls(node: &Node) -> Node {
    if !node.is_map() {
        return node.clone();
    }
    let kept = node.entries().iter().filter(|entry| !is_null(&entry.node));
    let entries: Vec<Entry> = kept.map(|entry| entry.with_node(without_nulls(&entry.node))).collect();
    Node { value: Value::Map(entries.into()), origin: node.origin.clone() }
}

fn is_null(node: &Node) -> bool {
    matches!(node.resolve(Reader::Kustomize), Some(Scalar::Null))
}

fn is_unknown(node: &Node) -> bool {
    matches!(node.value, Value::Scalar(_, Style::Unknown))
}
