//! Lists whose items are told apart by keys, and sets of single values, in a strategic merge.
//!
//! kustomize carries such a merge out step by step on the lists themselves, and what comes out of lists whose keys are
//! missing or doubled is what these steps leave: an item without its key, for example, drives out the others. So the
//! steps are the same here, with a short cut for lists in order.

use std::collections::BTreeSet;

use super::merge_step::{DIRECTIVE, Directive, Mismatch, Patch, Walked, read_directive};
use crate::kustomize::schema::merge_keys::ListMerge;
use crate::text::Index;
use crate::yaml::{ChangedBy, Entry, Node, Style, Value};

/// Lists whose items have no usable keys cost more than their length; longer ones are refused.
const MAX_UNORDERED: usize = 3000;

/// The merge of one item of a list.
type MergeItem<'a> = &'a dyn Fn(Option<&Node>, Patch<'_>) -> Result<Walked, Mismatch>;

/// An item on its way, and where it stood in the object's list if it is still what it was.
#[derive(Clone)]
struct Item {
    node: Node,
    kept: Option<usize>,
}

/// What is laid over the list.
enum Laid<'a> {
    Absent,
    Itself,
    Items(&'a [Node]),
}

/// Lays a list of a patch over a list of the object.
pub(crate) fn walk(
    old: Option<&Node>,
    patch: Patch<'_>,
    list: ListMerge<'_>,
    merge_item: MergeItem<'_>,
) -> Result<Walked, Mismatch> {
    let new = patch.node(old);
    let Some(old) = old.filter(|old| !old.is_null()) else {
        let Some(new) = new.filter(|new| new.is_seq()) else { return Ok(Walked::Gone) };
        let items = List::of(new.items(), list, merge_item).walk(&Laid::Itself, new)?;
        let node = Node { value: Value::Seq(nodes(items)), origin: new.origin.clone() };
        return Ok(Walked::taken(old, node));
    };
    let Some(new) = new else {
        return Ok(finish(old, List::of(old.items(), list, merge_item).walk(&Laid::Absent, old)?));
    };
    if new.is_null() {
        return Ok(Walked::Gone);
    }
    let directive = match patch {
        Patch::Absent => None,
        Patch::Itself | Patch::By(_) => directive(new)?,
    };
    let bare = directive.map(|(_, value)| without_directive(new.items(), value));
    match (directive, patch) {
        (Some((Directive::Delete, _)), _) => Ok(Walked::Gone),
        (Some((Directive::Replace, _)), _) => {
            let items = List::of(bare.as_deref().unwrap_or_default(), list, merge_item).walk(&Laid::Itself, new)?;
            let value = Value::Seq(nodes(items));
            Ok(Walked::Taken(old.changed(value, ChangedBy::Patch(new.span().clone()))))
        }
        (_, Patch::By(_)) => {
            let laid = Laid::Items(bare.as_deref().unwrap_or(new.items()));
            Ok(finish(old, List::of(old.items(), list, merge_item).walk(&laid, new)?))
        }
        (_, Patch::Itself | Patch::Absent) => {
            let items = bare.as_deref().unwrap_or(old.items());
            Ok(finish(old, List::of(items, list, merge_item).walk(&Laid::Itself, new)?))
        }
    }
}

fn finish(old: &Node, items: Vec<Item>) -> Walked {
    let same = items.len() == old.items().len() && items.iter().enumerate().all(|(at, item)| item.kept == Some(at));
    if same {
        return Walked::Kept;
    }
    Walked::Changed(Node { value: Value::Seq(nodes(items)), origin: old.origin.clone() })
}

fn nodes(items: Vec<Item>) -> std::sync::Arc<[Node]> {
    items.into_iter().map(|item| item.node).collect()
}

/// What the first item with a directive says of the list: it does when it says nothing else.
fn directive(list: &Node) -> Result<Option<(Directive, &Node)>, Mismatch> {
    let said = list.items().iter().find_map(|item| Some((item, item.get(DIRECTIVE)?)));
    let Some((_, value)) = said.filter(|(item, _)| item.entries().len() == 1) else { return Ok(None) };
    Ok(Some((read_directive(value)?, value)))
}

fn without_directive(items: &[Node], value: &Node) -> Vec<Node> {
    let says = |item: &Node| item.get(DIRECTIVE).is_some_and(|said| said.text() == value.text());
    items.iter().filter(|item| !is_nothing(item) && !says(item)).cloned().collect()
}

/// Tells whether kustomize drops an item when it goes through a list: nulls and empty mappings.
fn is_nothing(item: &Node) -> bool {
    item.is_null() || (item.is_map() && item.entries().is_empty())
}

/// The text of a value; lists and mappings have none.
fn text(node: &Node) -> &str {
    node.text().unwrap_or_default()
}

/// The values that tell an item from others, one for each key; empty where there is none.
type Values = Vec<String>;

/// A list that is being merged.
struct List<'a> {
    items: Vec<Item>,
    keys: Vec<&'a str>,
    merge_item: MergeItem<'a>,
}

impl<'a> List<'a> {
    fn of(items: &[Node], list: ListMerge<'a>, merge_item: MergeItem<'a>) -> Self {
        let items = items.iter().enumerate().map(|(at, node)| Item { node: node.clone(), kept: Some(at) });
        let keys = match list {
            ListMerge::ByKeys(keys) => keys.to_vec(),
            ListMerge::By(keys) => keys.iter().map(|key| &**key).collect(),
            // The empty key stands for an item's own value.
            ListMerge::Set | ListMerge::Replace => vec![""],
        };
        Self { items: items.collect(), keys, merge_item }
    }

    fn walk(self, laid: &Laid<'_>, place: &Node) -> Result<Vec<Item>, Mismatch> {
        let patch = match laid {
            Laid::Items(items) => items,
            Laid::Absent | Laid::Itself => &[][..],
        };
        let own = self.items.iter().map(|item| &item.node);
        if let [key] = self.keys.as_slice()
            && !key.is_empty()
            && is_in_order(own, key)
            && is_in_order(patch.iter(), key)
        {
            let key = *key;
            return self.walk_in_order(laid, patch, key);
        }
        if self.items.len() + patch.len() > MAX_UNORDERED {
            let message = format!("a list of more than {MAX_UNORDERED} items cannot be merged by several keys");
            return Err(Mismatch { patch: place.clone(), message });
        }
        self.walk_by_steps(laid, patch)
    }

    /// Merges lists in which every item has a key of its own: the patch's come first, in its order.
    fn walk_in_order(self, laid: &Laid<'_>, patch: &[Node], key: &str) -> Result<Vec<Item>, Mismatch> {
        let value = |node: &Node| node.get(key).and_then(Node::shared_text).unwrap_or_else(|| "".into());
        let places: Index<_, usize> = self.items.iter().enumerate().map(|(at, item)| (value(&item.node), at)).collect();
        let mut rest: Vec<Option<Item>> = self.items.into_iter().map(Some).collect();
        let mut all = Vec::with_capacity(patch.len() + rest.len());
        for new in patch {
            let old = places.get(&value(new)).and_then(|at| rest.get_mut(*at)?.take());
            let walked = (self.merge_item)(old.as_ref().map(|old| &old.node), Patch::By(new))?;
            all.extend(kept(old, walked));
        }
        for old in rest.into_iter().flatten() {
            let patch = if matches!(laid, Laid::Itself) { Patch::Itself } else { Patch::Absent };
            let walked = (self.merge_item)(Some(&old.node), patch)?;
            all.extend(kept(Some(old), walked));
        }
        Ok(all)
    }

    fn walk_by_steps(mut self, laid: &Laid<'_>, patch: &[Node]) -> Result<Vec<Item>, Mismatch> {
        let values = self.values(patch);
        let used: Vec<bool> = (0..self.keys.len())
            .map(|at| values.iter().any(|values| values.get(at).is_some_and(|value| !value.is_empty())))
            .collect();
        let all = !used.contains(&true);
        let pick = |at: &usize| all || used.get(*at) == Some(&true);
        let keys: Vec<&str> = self.keys.iter().enumerate().filter(|(at, _)| pick(at)).map(|(_, key)| *key).collect();
        let mut merged: Vec<Item> = Vec::new();
        for values in &values {
            let values: Vec<&str> =
                values.iter().enumerate().filter(|(at, _)| pick(at)).map(|(_, value)| value.as_str()).collect();
            match self.walk_one(laid, patch, &keys, &values)? {
                Some(item) => set(&mut merged, Some(&item), &keys, &values)?,
                None => set(&mut self.items, None, &keys, &values)?,
            }
        }
        if values.is_empty() { Ok(self.items) } else { append(merged, self.items, &keys) }
    }

    /// The values of all items, the patch's first, each once.
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
            complete(&mut all);
        }
        all
    }

    /// Merges the items with some values; `None` when nothing is left of them.
    fn walk_one(
        &mut self,
        laid: &Laid<'_>,
        patch: &[Node],
        keys: &[&str],
        values: &[&str],
    ) -> Result<Option<Item>, Mismatch> {
        let said: Vec<(&str, &str)> =
            keys.iter().copied().zip(values.iter().copied()).filter(|(_, value)| !value.is_empty()).collect();
        let wanted = if said.is_empty() { keys.iter().copied().zip(values.iter().copied()).collect() } else { said };
        let has = |node: &Node| {
            wanted.iter().all(|(key, value)| match *key {
                "" => text(node) == *value,
                key => node.get(key).is_some_and(|field| text(field) == *value),
            })
        };
        let at = self.items.iter().position(|item| has(&item.node));
        let old = at.and_then(|at| self.items.get(at)).cloned();
        let new = match laid {
            Laid::Absent => Patch::Absent,
            Laid::Itself => Patch::Itself,
            Laid::Items(_) => patch.iter().find(|node| has(node)).map_or(Patch::Absent, Patch::By),
        };
        let walked = (self.merge_item)(old.as_ref().map(|old| &old.node), new)?;
        // What stands in the object already loses its directive where it stands, whatever the directive does.
        let own = matches!(laid, Laid::Itself);
        if let Some(item) = at.filter(|_| own).and_then(|at| self.items.get_mut(at))
            && item.node.get(DIRECTIVE).is_some()
        {
            *item = Item { node: item.node.without(DIRECTIVE), kept: None };
        }
        let in_place = own || !matches!(walked, Walked::Taken(_));
        let item = match walked {
            Walked::Kept => old,
            Walked::Changed(node) | Walked::Taken(node) => Some(Item { node, kept: None }),
            Walked::Gone => None,
        };
        let Some(mut item) = item.filter(|item| !is_nothing(&item.node)) else { return Ok(None) };
        for (key, value) in keys.iter().zip(values) {
            if item.node.is_map() && !value.is_empty() && item.node.get(key).is_none() {
                let span = item.node.span().clone();
                let node = Node::scalar(*value, Style::Plain, span.clone());
                item = Item { node: item.node.with(Entry::new(*key, &span, node)), kept: None };
            }
        }
        if let Some(place) = at.filter(|_| in_place).and_then(|at| self.items.get_mut(at)) {
            *place = item.clone();
        }
        Ok(Some(item))
    }
}

/// Tells whether every item is a mapping with a value of its own for the key.
fn is_in_order<'n>(items: impl Iterator<Item = &'n Node>, key: &str) -> bool {
    let mut seen: Index<&str, ()> = Index::default();
    items.into_iter().all(|item| {
        let value = item.get(key).filter(|value| !value.is_null()).and_then(Node::text).unwrap_or_default();
        !value.is_empty() && seen.insert(value, ()).is_none()
    })
}

/// What stays of an item: one that the patch replaces as a whole is put back, as kustomize does.
fn kept(old: Option<Item>, walked: Walked) -> Option<Item> {
    match (walked, old) {
        (Walked::Kept, old) | (Walked::Taken(_), old @ Some(_)) => old,
        (Walked::Changed(node) | Walked::Taken(node), _) => Some(Item { node, kept: None }),
        (Walked::Gone, _) => None,
    }
    .filter(|item| !is_nothing(&item.node))
}

/// Fills values that are missing from those of other items that share one and contradict none.
fn complete(all: &mut [Values]) {
    for first in 0..all.len() {
        let Some(own) = all.get(first).cloned() else { continue };
        for second in 0..all.len() {
            let Some(joined) = all.get(second).and_then(|other| join(&own, other)) else { continue };
            for at in [first, second] {
                if let Some(place) = all.get_mut(at) {
                    place.clone_from(&joined);
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

/// Puts an item in the place of those with the values, or at the end; without an item, takes those out.
fn set(list: &mut Vec<Item>, item: Option<&Item>, keys: &[&str], values: &[&str]) -> Result<(), Mismatch> {
    let by_field = keys.first().is_some_and(|key| !key.is_empty()) && values.first().is_some_and(|v| !v.is_empty());
    let mut found = false;
    let mut all = Vec::with_capacity(list.len() + 1);
    for old in list.drain(..) {
        if is_nothing(&old.node) {
            continue;
        }
        if (!old.node.is_map() && by_field) || !has_values(&old.node, keys, values)? {
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

/// Tells whether an item has the values. An empty value asks only for the key; keys beyond the values follow the last.
fn has_values(node: &Node, keys: &[&str], values: &[&str]) -> Result<bool, Mismatch> {
    let unfit = || {
        let message = "the items of this list are not all of one form".to_string();
        Mismatch { patch: node.clone(), message }
    };
    let mut matches = false;
    for (at, key) in keys.iter().enumerate() {
        if let Some(value) = values.get(at) {
            matches = match *key {
                "" => node.text().ok_or_else(unfit)? == *value,
                _ if !node.is_map() => return Err(unfit()),
                key => node.get(key).is_some_and(|field| value.is_empty() || text(field) == *value),
            };
        }
        if !matches {
            return Ok(false);
        }
    }
    Ok(matches)
}

/// Adds the object's items to those that are merged already.
fn append(mut merged: Vec<Item>, items: Vec<Item>, keys: &[&str]) -> Result<Vec<Item>, Mismatch> {
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
