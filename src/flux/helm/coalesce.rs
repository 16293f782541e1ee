//! The values of a chart: the values of a release over the default values of the chart and its subcharts.
//!
//! Source: `CoalesceValues` and `ProcessDependencies` of Helm 4.

use super::chart::{Chart, Subchart};
use crate::yaml::{Entry, Node, Reader, Scalar, Style, Value};

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
    let all = coalesced(chart, values.clone())?;
    let enabled = enabled(chart, &all, "");
    let values = coalesced(&enabled, values.clone())?;
    Ok((enabled, values))
}

fn coalesced(chart: &Chart, mut values: Node) -> Result<Node, Mismatch> {
    for default in chart.values.entries() {
        let key = &*default.key;
        let is_subchart = chart.subcharts.iter().any(|subchart| *subchart.chart.name == *key);
        let nulls = if is_subchart { Nulls::Keep } else { Nulls::Remove };
        match values.get(key) {
            Some(own) if is_null(own) => values = values.without(key),
            Some(own) if own.is_map() && default.node.is_map() => {
                let source = if is_subchart { default.node.clone() } else { without_nulls(&default.node) };
                let table = tables(own.clone(), &source, nulls);
                values = with(&values, key, table);
            }
            Some(_) => {}
            None if is_null(&default.node) => {}
            None => values = values.with(default.with_node(without_nulls(&default.node))),
        }
    }
    for Subchart { chart: subchart, .. } in &chart.subcharts {
        let name = &*subchart.name;
        let own = match values.get(name) {
            None => Node { value: Value::Map([].into()), origin: values.origin.clone() },
            Some(own) if own.is_map() => own.clone(),
            Some(own) if is_unknown(own) => continue,
            Some(own) => return Err(Mismatch { node: own.clone(), subchart: name.to_owned() }),
        };
        let own = with_globals(own, &values);
        values = with(&values, name, coalesced(subchart, own)?);
    }
    Ok(values)
}

/// Adds the global values of a parent chart to the values of a subchart.
fn with_globals(values: Node, parent: &Node) -> Node {
    let empty = Node { value: Value::Map([].into()), origin: values.origin.clone() };
    let own = values.get(GLOBAL).cloned().unwrap_or_else(|| empty.clone());
    let theirs = parent.get(GLOBAL).cloned().unwrap_or(empty);
    if is_unknown(&theirs) {
        return with(&values, GLOBAL, theirs);
    }
    if !own.is_map() || !theirs.is_map() {
        return values;
    }
    let mut all = own.clone();
    for entry in theirs.entries() {
        match own.get(&entry.key) {
            Some(known) if entry.node.is_map() && known.is_map() => {
                all = with(&all, &entry.key, tables(entry.node.clone(), known, Nulls::Keep));
            }
            Some(known) if entry.node.is_map() != known.is_map() => {}
            _ => all = all.with(entry.clone()),
        }
    }
    with(&values, GLOBAL, all)
}

/// Adds the values of `under` to a mapping.
fn tables(mut over: Node, under: &Node, nulls: Nulls) -> Node {
    for entry in under.entries() {
        let key = &*entry.key;
        match over.get(key) {
            Some(own) if is_null(own) && nulls == Nulls::Remove && !is_null(&entry.node) => over = over.without(key),
            Some(own) if own.is_map() && entry.node.is_map() => {
                let table = tables(own.clone(), &entry.node, nulls);
                over = with(&over, key, table);
            }
            Some(_) => {}
            None => over = over.with(entry.clone()),
        }
    }
    over
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
