//! Strategic merges of lists by merge keys, and of sets of scalars.
//!
//! kustomize merges these lists in steps. The steps determine the result if keys are missing or duplicate: for
//! example, an item without its key removes other items. So this module follows the same steps, except for lists with
//! unique keys.

use std::collections::BTreeSet;

use super::merge_step::{DIRECTIVE, Directive, MergeError, MergeResult, PatchValue, read_directive};
use crate::kustomize::schema::merge_keys::ListMerge;
use crate::text::Index;
use crate::yaml::{ChangedBy, Entry, Node, Style, Value};

/// The maximum number of items of a list without unique keys, which merges in quadratic time.
const MAX_UNORDERED: usize = 3000;

/// The merge of one item of a list.
type MergeItem<'a> = &'a dyn Fn(Option<&Node>, PatchValue<'_>) -> Result<MergeResult, MergeError>;

/// An item of the merged list, with its index in the original list if the item is unchanged.
#[derive(Clone)]
struct Item {
    node: Node,
    original_index: Option<usize>,
}

/// The patch of a list.
enum ListPatch<'a> {
    Absent,
    Own,
    Items(&'a [Node]),
}

/// Merges the list of a patch into the list of an object.
pub(crate) fn merge_list(
    old: Option<&Node>,
    patch: PatchValue<'_>,
    list: ListMerge<'_>,
    merge_item: MergeItem<'_>,
) -> Result<MergeResult, MergeError> {
    let new = patch.node(old);
    let Some(old) = old.filter(|old| !old.is_null()) else {
        let Some(new) = new.filter(|new| new.is_seq()) else { return Ok(MergeResult::Removed) };
        let items = List::new(new.items(), list, merge_item).merge(&ListPatch::Own, new)?;
        let node = Node { value: Value::Seq(nodes(items)), origin: new.origin.clone() };
        return Ok(MergeResult::replaced(old, node));
    };
    let Some(new) = new else {
        return Ok(finish(old, List::new(old.items(), list, merge_item).merge(&ListPatch::Absent, old)?));
    };
    if new.is_null() {
        return Ok(MergeResult::Removed);
    }
    let directive = match patch {
        PatchValue::Absent => None,
        PatchValue::Own | PatchValue::Node(_) => directive(new)?,
    };
    let items_without_directive = directive.map(|(_, value)| without_directive(new.items(), value));
    match (directive, patch) {
        (Some((Directive::Delete, _)), _) => Ok(MergeResult::Removed),
        (Some((Directive::Replace, _)), _) => {
            let items = List::new(items_without_directive.as_deref().unwrap_or_default(), list, merge_item)
                .merge(&ListPatch::Own, new)?;
            let value = Value::Seq(nodes(items));
            Ok(MergeResult::Replaced(old.changed(value, ChangedBy::Patch(new.span().clone()))))
        }
        (_, PatchValue::Node(_)) => {
            let list_patch = ListPatch::Items(items_without_directive.as_deref().unwrap_or(new.items()));
            Ok(finish(old, List::new(old.items(), list, merge_item).merge(&list_patch, new)?))
        }
        (_, PatchValue::Own | PatchValue::Absent) => {
            let items = items_without_directive.as_deref().unwrap_or(old.items());
            Ok(finish(old, List::new(items, list, merge_item).merge(&ListPatch::Own, new)?))
        }
    }
}

fn finish(old: &Node, items: Vec<Item>) -> MergeResult {
    let same = items.len() == old.items().len()
        && items.iter().enumerate().all(|(index, item)| item.original_index == Some(index));
    if same {
        return MergeResult::Unchanged;
    }
    MergeResult::Changed(Node { value: Value::Seq(nodes(items)), origin: old.origin.clone() })
}

fn nodes(items: Vec<Item>) -> crate::yaml::List<Node> {
    items.into_iter().map(|item| item.node).collect()
}

/// The directive of a list: the directive of the first item that has one, if the item has no other fields.
fn directive(list: &Node) -> Result<Option<(Directive, &Node)>, MergeError> {
    let found = list.items().iter().find_map(|item| Some((item, item.get(DIRECTIVE)?)));
    let Some((_, value)) = found.filter(|(item, _)| item.entries().len() == 1) else { return Ok(None) };
    Ok(Some((read_directive(value)?, value)))
}

fn without_directive(items: &[Node], value: &Node) -> Vec<Node> {
    let has_directive = |item: &Node| item.get(DIRECTIVE).is_some_and(|found| found.text() == value.text());
    items.iter().filter(|item| !is_empty_item(item) && !has_directive(item)).cloned().collect()
}

/// Returns whether kustomize drops an item: a null or an empty mapping.
fn is_empty_item(item: &Node) -> bool {
    item.is_null() || (item.is_map() && item.entries().is_empty())
}

/// The text of a scalar; empty for other nodes.
fn text(node: &Node) -> &str {
    node.text().unwrap_or_default()
}

/// The values of the merge keys of an item; a missing value is empty.
type Values = Vec<String>;

/// The state of a list merge.
struct List<'a> {
    items: Vec<Item>,
    keys: Vec<&'a str>,
    merge_item: MergeItem<'a>,
}

impl<'a> List<'a> {
    fn new(items: &[Node], list: ListMerge<'a>, merge_item: MergeItem<'a>) -> Self {
        let items =
            items.iter().enumerate().map(|(index, node)| Item { node: node.clone(), original_index: Some(index) });
        let keys = match list {
            ListMerge::ByKeys(keys) => keys.to_vec(),
            ListMerge::ByUserKeys(keys) => keys.iter().map(|key| &**key).collect(),
            // The empty key denotes the value of the item itself.
            ListMerge::Set | ListMerge::Replace => vec![""],
        };
        Self { items: items.collect(), keys, merge_item }
    }

    fn merge(self, list_patch: &ListPatch<'_>, patch_node: &Node) -> Result<Vec<Item>, MergeError> {
        let patch = match list_patch {
            ListPatch::Items(items) => items,
            ListPatch::Absent | ListPatch::Own => &[][..],
        };
        let nodes = self.items.iter().map(|item| &item.node);
        if let [key] = self.keys.as_slice()
            && !key.is_empty()
            && is_in_order(nodes, key)
            && is_in_order(patch.iter(), key)
        {
            let key = *key;
            return self.merge_in_order(list_patch, patch, key);
        }
        if self.items.len() + patch.len() > MAX_UNORDERED {
            let message =
                format!("a list of more than {MAX_UNORDERED} items without unique merge keys cannot be merged");
            return Err(MergeError { patch: patch_node.clone(), message });
        }
        self.merge_by_steps(list_patch, patch)
    }

    /// Merges lists in which all items have unique keys. Items of the patch come first, in the order of the patch.
    fn merge_in_order(self, list_patch: &ListPatch<'_>, patch: &[Node], key: &str) -> Result<Vec<Item>, MergeError> {
        let value = |node: &Node| node.get(key).and_then(Node::shared_text).unwrap_or_else(|| "".into());
        let indices: Index<_, usize> =
            self.items.iter().enumerate().map(|(index, item)| (value(&item.node), index)).collect();
        let mut rest: Vec<Option<Item>> = self.items.into_iter().map(Some).collect();
        let mut all = Vec::with_capacity(patch.len() + rest.len());
        for new in patch {
            let old = indices.get(&value(new)).and_then(|index| rest.get_mut(*index)?.take());
            let result = (self.merge_item)(old.as_ref().map(|old| &old.node), PatchValue::Node(new))?;
            all.extend(keep_item(old, result));
        }
        for old in rest.into_iter().flatten() {
            let patch = if matches!(list_patch, ListPatch::Own) { PatchValue::Own } else { PatchValue::Absent };
            let result = (self.merge_item)(Some(&old.node), patch)?;
            all.extend(keep_item(Some(old), result));
        }
        Ok(all)
    }

    fn merge_by_steps(mut self, list_patch: &ListPatch<'_>, patch: &[Node]) -> Result<Vec<Item>, MergeError> {
        let values = self.values(patch);
        let used: Vec<bool> = (0..self.keys.len())
            .map(|index| values.iter().any(|values| values.get(index).is_some_and(|value| !value.is_empty())))
            .collect();
        let all = !used.contains(&true);
        let is_used = |index: &usize| all || used.get(*index) == Some(&true);
        let keys: Vec<&str> =
            self.keys.iter().enumerate().filter(|(index, _)| is_used(index)).map(|(_, key)| *key).collect();
        let mut merged: Vec<Item> = Vec::new();
        for values in &values {
            let values: Vec<&str> = values
                .iter()
                .enumerate()
                .filter(|(index, _)| is_used(index))
                .map(|(_, value)| value.as_str())
                .collect();
            match self.merge_one(list_patch, patch, &keys, &values)? {
                Some(item) => set(&mut merged, Some(&item), &keys, &values)?,
                None => set(&mut self.items, None, &keys, &values)?,
            }
        }
        if values.is_empty() { Ok(self.items) } else { append(merged, self.items, &keys) }
    }

    /// The distinct key values of all items. The values of the patch come first.
    fn values(&self, patch: &[Node]) -> Vec<Values> {
        let mut seen = BTreeSet::new();
        let mut all: Vec<Values> = Vec::new();
        for node in patch.iter().chain(self.items.iter().map(|item| &item.node)) {
            let value = |key: &&str| match *key {
                "" => text(node).to_string(),
                key => node.get(key).filter(|value| !value.is_null()).map_or("", text).to_string(),
            };
            let values: Values = self.keys.iter().map(value).collect();
            if seen.insert(values.clone()) {
                all.push(values);
            }
        }
        if self.keys.len() > 1 {
            fill_missing_values(&mut all);
        }
        all
    }

    /// Merges the items with the given key values; `None` if the result is empty.
    fn merge_one(
        &mut self,
        list_patch: &ListPatch<'_>,
        patch: &[Node],
        keys: &[&str],
        values: &[&str],
    ) -> Result<Option<Item>, MergeError> {
        let expected_pairs: Vec<(&str, &str)> =
            keys.iter().copied().zip(values.iter().copied()).filter(|(_, value)| !value.is_empty()).collect();
        let expected = if expected_pairs.is_empty() {
            keys.iter().copied().zip(values.iter().copied()).collect()
        } else {
            expected_pairs
        };
        let matches = |node: &Node| {
            expected.iter().all(|(key, value)| match *key {
                "" => text(node) == *value,
                key => node.get(key).is_some_and(|field| text(field) == *value),
            })
        };
        let index = self.items.iter().position(|item| matches(&item.node));
        let old = index.and_then(|index| self.items.get(index)).cloned();
        let new = match list_patch {
            ListPatch::Absent => PatchValue::Absent,
            ListPatch::Own => PatchValue::Own,
            ListPatch::Items(_) => patch.iter().find(|node| matches(node)).map_or(PatchValue::Absent, PatchValue::Node),
        };
        let result = (self.merge_item)(old.as_ref().map(|old| &old.node), new)?;
        // An item of the object always loses its directive, regardless of the kind of directive.
        let is_own = matches!(list_patch, ListPatch::Own);
        if let Some(item) = index.filter(|_| is_own).and_then(|index| self.items.get_mut(index))
            && item.node.get(DIRECTIVE).is_some()
        {
            *item = Item { node: item.node.without(DIRECTIVE), original_index: None };
        }
        let in_place = is_own || !matches!(result, MergeResult::Replaced(_));
        let item = match result {
            MergeResult::Unchanged => old,
            MergeResult::Changed(node) | MergeResult::Replaced(node) => Some(Item { node, original_index: None }),
            MergeResult::Removed => None,
        };
        let Some(mut item) = item.filter(|item| !is_empty_item(&item.node)) else { return Ok(None) };
        for (key, value) in keys.iter().zip(values) {
            if item.node.is_map() && !value.is_empty() && item.node.get(key).is_none() {
                let span = item.node.span().clone();
                let node = Node::scalar(*value, Style::Plain, span.clone());
                item = Item { node: item.node.with(Entry::new(*key, &span, node)), original_index: None };
            }
        }
        if let Some(slot) = index.filter(|_| in_place).and_then(|index| self.items.get_mut(index)) {
            *slot = item.clone();
        }
        Ok(Some(item))
    }
}

/// Returns whether all items are mappings with unique values of the key.
fn is_in_order<'n>(items: impl Iterator<Item = &'n Node>, key: &str) -> bool {
    let mut seen: Index<&str, ()> = Index::default();
    items.into_iter().all(|item| {
        let value = item.get(key).filter(|value| !value.is_null()).and_then(Node::text).unwrap_or_default();
        !value.is_empty() && seen.insert(value, ()).is_none()
    })
}

/// The item after its merge. kustomize restores an item that the patch replaces as a whole.
fn keep_item(old: Option<Item>, result: MergeResult) -> Option<Item> {
    match (result, old) {
        (MergeResult::Unchanged, old) | (MergeResult::Replaced(_), old @ Some(_)) => old,
        (MergeResult::Changed(node) | MergeResult::Replaced(node), _) => Some(Item { node, original_index: None }),
        (MergeResult::Removed, _) => None,
    }
    .filter(|item| !is_empty_item(&item.node))
}

/// Fills missing key values from items that share a value and have no contradicting values.
fn fill_missing_values(all: &mut [Values]) {
    for first in 0..all.len() {
        let Some(own) = all.get(first).cloned() else { continue };
        for second in 0..all.len() {
            let Some(joined) = all.get(second).and_then(|other| join(&own, other)) else { continue };
            for index in [first, second] {
                if let Some(slot) = all.get_mut(index) {
                    slot.clone_from(&joined);
                }
            }
        }
    }
}

fn join(a: &Values, b: &Values) -> Option<Values> {
    let mut common = false;
    let mut joined = Vec::with_capacity(a.len());
    for (a, b) in a.iter().zip(b) {
        common |= a == b;
        if a != b && !a.is_empty() && !b.is_empty() {
            return None;
        }
        joined.push(if a.is_empty() { b.clone() } else { a.clone() });
    }
    common.then_some(joined)
}

/// Replaces the items with the given key values by `item`, or appends `item`; without `item`, removes these items.
fn set(list: &mut Vec<Item>, item: Option<&Item>, keys: &[&str], values: &[&str]) -> Result<(), MergeError> {
    let by_field = keys.first().is_some_and(|key| !key.is_empty()) && values.first().is_some_and(|v| !v.is_empty());
    let mut found = false;
    let mut all = Vec::with_capacity(list.len() + 1);
    for old in list.drain(..) {
        if is_empty_item(&old.node) {
            continue;
        }
        if (!old.node.is_map() && by_field) || !matches_values(&old.node, keys, values)? {
            if !values.is_empty() {
                all.push(old);
            }
            continue;
        }
        found = true;
        all.extend(item.cloned());
    }
    if !found {
        all.extend(item.cloned());
    }
    *list = all;
    Ok(())
}

/// Returns whether an item has the given key values.
///
/// An empty value only requires that the key exists. Keys without a value follow the result of the last value.
fn matches_values(node: &Node, keys: &[&str], values: &[&str]) -> Result<bool, MergeError> {
    let mixed_items = || {
        let message = "the items of this list have different types".to_string();
        MergeError { patch: node.clone(), message }
    };
    let mut matches = false;
    for (index, key) in keys.iter().enumerate() {
        if let Some(value) = values.get(index) {
            matches = match *key {
                "" => node.text().ok_or_else(mixed_items)? == *value,
                _ if !node.is_map() => return Err(mixed_items()),
                key => node.get(key).is_some_and(|field| value.is_empty() || text(field) == *value),
            };
        }
        if !matches {
            return Ok(false);
        }
    }
    Ok(matches)
}

/// Appends the items of the object to the merged items.
fn append(mut merged: Vec<Item>, items: Vec<Item>, keys: &[&str]) -> Result<Vec<Item>, MergeError> {
    for item in items {
        if keys == [""] {
            set(&mut merged, Some(&item), keys, &[text(&item.node)])?;
            continue;
        }
        let mut values = Vec::new();
        for key in keys {
            match item.node.get(key) {
                Some(value) => values.push(text(value)),
                None => merged.push(item.clone()),
            }
        }
        if keys.len() > 1 {
            set(&mut merged, None, keys, &values)?;
        }
        set(&mut merged, Some(&item), keys, &values)?;
    }
    Ok(merged)
}
