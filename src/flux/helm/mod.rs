//! The values of a HelmRelease, merged as helm-controller merges them.
//!
//! helm-controller merges the items of `valuesFrom` in order, then `values` over them. An item with a `targetPath` sets
//! one value in the result so far, including `values`. At the end, helm-controller merges `values` once more. So values
//! directly at the root of `values` still have precedence.

mod path;
mod release;
mod chart;
mod coalesce;
mod find_chart;

pub use chart::{Chart, Subchart};
pub use coalesce::{Mismatch, coalesce};
pub use find_chart::{ChartFiles, NoChart, validates};

use crate::flux::producer::produced::Produced;
use crate::kube::Object;
use crate::text::{Index, Span};
use crate::yaml::{Embedded, Entry, Node, Style, Value, as_kubernetes};

/// The default of `valuesKey`.
const VALUES_KEY: &str = "values.yaml";

/// The maximum number of values that the target paths of a release visit. A path may create a list of 65,536 items.
const MAX_VISITS: usize = 5_000_000;

/// The number of values that a target path that fails may visit.
const VISITS_OF_FAILURE: usize = 100_000;

/// The merged values of a release, as far as they are known.
#[derive(Debug, Clone)]
pub struct Values {
    /// The values.
    pub node: Node,
    /// Whether there may be further, unknown values, such as those of a Secret.
    pub open: bool,
    /// The faults that prevent helm-controller from merging the values.
    pub faults: Vec<ValuesFault>,
    /// The target path at which the values become too many to be merged.
    pub limit: Option<Span>,
}

/// A fault in an item of `valuesFrom`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValuesFault {
    /// The position of the fault.
    pub at: Span,
    /// The message of the fault.
    pub message: String,
}

/// The parsed texts of ConfigMaps, by the address and the position of the text. The nodes keep the addresses of the texts.
#[derive(Debug, Default)]
pub struct ParsedValues(Index<(usize, usize), (Node, Result<Node, String>)>);

impl ParsedValues {
    fn read(&mut self, scalar: &Node) -> Result<Node, String> {
        let Some(text) = scalar.text() else { return read(scalar) };
        let key = (text.as_ptr().addr(), scalar.span().range().start);
        match self.0.get(&key) {
            Some((known, parsed)) if known.span() == scalar.span() && known == scalar => parsed.clone(),
            _ => {
                let parsed = read(scalar);
                self.0.insert(key, (scalar.clone(), parsed.clone()));
                parsed
            }
        }
    }
}

/// Merges the values of a HelmRelease. `find` returns the ConfigMap or Secret with a kind and name in the release's
/// namespace.
pub fn values(release: &Object, find: impl Fn(&str, &str) -> Option<Produced>) -> Values {
    values_with(release, &mut ParsedValues::default(), find)
}

/// Merges the values of a HelmRelease, as [`values`]. `parsed` has the texts that other releases read.
fn values_with(release: &Object, parsed: &mut ParsedValues, find: impl Fn(&str, &str) -> Option<Produced>) -> Values {
    let empty = || Node::at(Value::Map([].into()), release.span().clone());
    let spec = |key: &str| release.node.at_keys(&["spec", key]).filter(|node| !node.is_null());
    let mut inline = spec("values").filter(|node| node.is_map()).cloned().unwrap_or_else(empty);
    let mut visits = MAX_VISITS;
    let mut merged = Values { node: empty(), open: false, faults: Vec::new(), limit: None };
    for reference in spec("valuesFrom").map_or(&[][..], Node::items) {
        if let Err(fault) = merged.take(reference, &mut inline, &mut visits, parsed, &find) {
            merged.faults.push(fault);
        }
    }
    merged.node = merge(&merged.node, &inline);
    merged
}

/// The faults of the texts from which a HelmRelease reads values and that are no YAML mapping. helm-controller fails even if
/// the reference is optional.
fn unreadable_with(
    release: &Object,
    parsed: &mut ParsedValues,
    find: impl Fn(&str, &str) -> Option<Produced>,
) -> Vec<ValuesFault> {
    let references = release.node.at_keys(&["spec", "valuesFrom"]).map_or(&[][..], Node::items);
    let of_reference = |reference: &Node| {
        let said = |key: &str| reference.get(key).and_then(Node::text).filter(|text| !text.is_empty());
        let name = said("name").filter(|_| said("kind") == Some("ConfigMap") && said("targetPath").is_none())?;
        let key = said("valuesKey").unwrap_or(VALUES_KEY);
        let found = find("ConfigMap", name).filter(|found| !found.open)?;
        let text = found.object.node.at_keys(&["data", key])?;
        let is_known = matches!(text.value, Value::Scalar(_, style) if style != Style::Unknown);
        let message = parsed.read(text).err().filter(|_| is_known)?;
        let message = format!("key `{key}` of ConfigMap `{name}` is no YAML mapping: {message}");
        Some(ValuesFault { at: reference.get("name")?.span().clone(), message })
    };
    references.iter().filter_map(of_reference).collect()
}

impl Values {
    fn take(
        &mut self,
        reference: &Node,
        inline: &mut Node,
        visits: &mut usize,
        parsed: &mut ParsedValues,
        find: impl Fn(&str, &str) -> Option<Produced>,
    ) -> Result<(), ValuesFault> {
        let said = |key: &str| reference.get(key).and_then(Node::text).filter(|text| !text.is_empty());
        let fault = |key: &str, message: String| {
            let at = reference.get(key).unwrap_or(reference).span().clone();
            ValuesFault { at, message }
        };
        let kind = said("kind").unwrap_or_default();
        let name = said("name").unwrap_or_default();
        let key = said("valuesKey").unwrap_or(VALUES_KEY);
        let optional = said("optional") == Some("true");
        if !matches!(kind, "ConfigMap" | "Secret") {
            return Err(fault(
                "kind",
                format!("`valuesFrom` references a `{kind}`; only `ConfigMap` and `Secret` are supported"),
            ));
        }
        let Some(found) = find(kind, name) else {
            // Most repositories do not contain Secrets, so a Secret that is missing here may exist on the cluster.
            self.open |= kind == "Secret";
            let missing = kind == "ConfigMap" && !optional;
            return if missing { Err(fault("name", format!("the ConfigMap `{name}` is not defined"))) } else { Ok(()) };
        };
        let value = ["data", "stringData"].into_iter().find_map(|field| found.object.node.at_keys(&[field, key]));
        let known = value.filter(|_| kind == "ConfigMap" && !found.open);
        let (Some(value), target) = (value, said("targetPath")) else {
            self.open |= found.open || kind == "Secret";
            let missing = kind == "ConfigMap" && !found.open && !optional;
            let message = || format!("the ConfigMap `{name}` has no key `{key}`");
            return if missing { Err(fault("valuesKey", message())) } else { Ok(()) };
        };
        let known = known.filter(|node| !matches!(node.value, Value::Scalar(_, Style::Unknown)));
        if let Some(target) = target {
            let literal = said("literal") == Some("true");
            self.node = merge(&self.node, inline);
            let set = path::Set { path: target, literal, value: known.unwrap_or(value), known: known.is_some() };
            let Some(left) = visits.checked_sub(self.node.size()) else {
                let fault = fault("targetPath", "the target paths visit too many values".to_owned());
                self.limit.get_or_insert_with(|| fault.at.clone());
                return Err(fault);
            };
            let result = set.apply(&mut self.node, inline);
            *visits = left.saturating_sub(if result.is_err() { VISITS_OF_FAILURE } else { 0 });
            return result.map_err(|message| fault("targetPath", message));
        }
        let Some(known) = known else {
            self.open = true;
            return Ok(());
        };
        let read = parsed.read(known).map_err(|message| fault("name", format!("the ConfigMap `{name}`: {message}")))?;
        self.node = merge(&self.node, &read);
        Ok(())
    }
}

/// Parses the values in a text, with their positions in the file of the ConfigMap.
fn read(scalar: &Node) -> Result<Node, String> {
    let parsed = Embedded::new(scalar).parse();
    if let Some(wrong) = parsed.findings.iter().find(|finding| finding.rule != crate::yaml::DUPLICATE_KEY) {
        return Err(wrong.message.clone());
    }
    let empty = Node::at(Value::Map([].into()), scalar.span().clone());
    match parsed.documents.first() {
        None => Ok(empty),
        Some(document) if document.node.is_null() => Ok(empty),
        Some(document) if document.node.is_map() => Ok(as_kubernetes(&document.node)),
        Some(_) => Err("its values are not a mapping".into()),
    }
}

/// Merges mappings key by key. A value of another type replaces the previous value.
fn merge(under: &Node, over: &Node) -> Node {
    let Value::Map(before) = &under.value else { return under.clone() };
    if over.entries().is_empty() {
        return under.clone();
    }
    let mut places: Index<&str, usize> = Index::default();
    for (at, entry) in before.iter().enumerate() {
        places.entry_or(&*entry.key, || at);
    }
    let mut entries = before.to_vec();
    for entry in over.entries() {
        let at = *places.entry_or(&*entry.key, || entries.len());
        let both = before.get(at).map(|old| &old.node).filter(|node| node.is_map() && entry.node.is_map());
        let merged = entry_of(entry, both.map_or_else(|| entry.node.clone(), |node| merge(node, &entry.node)));
        match entries.get_mut(at) {
            Some(old) => *old = merged,
            None => entries.push(merged),
        }
    }
    Node { value: Value::Map(entries.into()), origin: under.origin.clone() }
}

/// An entry with another value. The position of the key is in the file of the value.
fn entry_of(entry: &Entry, node: Node) -> Entry {
    let key = entry.key_span();
    let written = node.origin.written().clone();
    let key = if key.file() == written.file() { key } else { written };
    Entry::new(entry.key.clone(), &key, node)
}
