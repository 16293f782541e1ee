//! The objects that may differ between two states of a cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::finding::ObjectRef;
use crate::flux::{Applied, AppliedSet, ApplierKind, ApplyMode, Objects, Receiver};
use crate::kube::{Object, ObjectKey};
use crate::lint::is_alike;
use crate::text::Index;

/// An object of one applier in both states. An object that several appliers apply has a pair for each of them.
pub(super) struct Pair<'a> {
    pub(super) key: ObjectKey,
    pub(super) before: Option<Applied<'a>>,
    pub(super) after: Option<Applied<'a>>,
    /// Another applier that applies the object in the later state.
    pub(super) other: Option<&'a ObjectRef>,
}

/// The lists of all clusters. Clusters share lists, so that each pair of lists is compared once.
#[derive(Default)]
pub(super) struct Lists {
    /// Whether two shared lists have the same content, by address.
    alike: Index<(usize, usize), bool>,
    /// The identities in which two lists differ, by the addresses of their parts.
    differing: Index<[usize; 4], Arc<[ObjectKey]>>,
    /// The positions of the objects of a part of a list, by the address of the part.
    positions: Index<usize, Index<ObjectKey, usize>>,
}

impl Lists {
    /// The objects in which two states of a cluster may differ, by identity.
    pub(super) fn pairs<'a>(&mut self, before: &Receiver<'a>, after: &Receiver<'a>) -> Vec<Pair<'a>> {
        let (earlier, later): (Vec<&AppliedSet>, Vec<&AppliedSet>) =
            (before.applied_sets().collect(), after.applied_sets().collect());
        let mut keys: BTreeSet<ObjectKey> = BTreeSet::new();
        for (old, new) in matching(&earlier, &later) {
            keys.extend(self.differing(old, new).iter().cloned());
        }
        let mut pairs = Vec::new();
        for key in keys {
            let (before, after) = (self.applied(&key, &earlier), self.applied(&key, &later));
            pair(&key, before, &after, &mut pairs);
        }
        pairs
    }

    /// The identities in which the objects of one applier differ.
    fn differing(&mut self, before: Option<&AppliedSet>, after: Option<&AppliedSet>) -> Arc<[ObjectKey]> {
        let none = Objects::default();
        let (old, new) = (before.map_or(&none, |set| &set.objects), after.map_or(&none, |set| &set.objects));
        let Self { alike, differing, .. } = self;
        let [old_shared, old_own, new_shared, new_own] = [parts(old), parts(new)].concat()[..] else {
            unreachable!("each list has two parts")
        };
        let found = differing.entry_or([old_shared, old_own, new_shared, new_own], || {
            let is_same = *alike.entry_or((old_shared, new_shared), || {
                let (old, new) = (old.shared(), new.shared());
                old.len() == new.len() && old.iter().zip(new.iter()).all(|(old, new)| is_alike(old, new))
            });
            if is_same { differing_in_own(old, new) } else { differing_in_any(old, new) }.into()
        });
        found.clone()
    }

    /// The object as each of some appliers applies it.
    pub(super) fn applied<'a>(&mut self, key: &ObjectKey, sets: &[&'a AppliedSet]) -> Vec<Applied<'a>> {
        let of_set = |set: &&'a AppliedSet| {
            let objects = &set.objects;
            let [shared, own] = parts(objects);
            let of_shared = self.positions.entry_or(shared, || positions(objects.shared().iter().enumerate()));
            let in_shared = of_shared.get(key).copied().filter(|at| !objects.is_own(*at));
            let of_own =
                self.positions.entry_or(own, || positions(objects.own().iter().map(|(at, object)| (*at, object))));
            let in_own = of_own.get(key).copied();
            set.at(in_shared.into_iter().chain(in_own).min()?)
        };
        sets.iter().filter_map(of_set).collect()
    }
}

/// Adds the pairs of an object. An applier that has it in both states has a pair. If no applier has, each former applier
/// hands the object over to a new one.
fn pair<'a>(key: &ObjectKey, before: Vec<Applied<'a>>, after: &[Applied<'a>], pairs: &mut Vec<Pair<'a>>) {
    let is_applied = |applied: &Applied<'_>| applied.apply_mode() != ApplyMode::Ignored;
    // A bootstrap applies an object only once, and the appliers of directories are unknown.
    let is_single = |kind: ApplierKind| matches!(kind, ApplierKind::Bootstrap | ApplierKind::Folder);
    let applies_again = |applied: &&Applied<'a>| is_applied(applied) && !is_single(applied.by.kind);
    let other = |by: &ObjectRef| {
        let mut others = after.iter().filter(applies_again).map(|applied| &applied.by.reference);
        others.find(|other| *other != by)
    };
    let (mut former, mut new, mut kept) = (before, Vec::new(), Vec::new());
    for applied in after {
        match former.iter().position(|former| former.by.reference == applied.by.reference) {
            Some(at) => kept.push((former.remove(at), *applied)),
            None => new.push(*applied),
        }
    }
    // An applier does not delete the objects that it ignores.
    kept.retain(|(former, applied)| is_applied(former) || is_applied(applied));
    former.retain(is_applied);
    new.retain(is_applied);
    let has_successor = kept.is_empty();
    // The cluster applies to itself what its bootstrap has applied.
    if kept.iter().any(|(_, applied)| applied.by.kind != ApplierKind::Bootstrap) {
        kept.retain(|(_, applied)| applied.by.kind != ApplierKind::Bootstrap);
    }
    let mut add = |before: Option<Applied<'a>>, after: Option<Applied<'a>>| {
        let other = after.or(before).and_then(|decisive| other(&decisive.by.reference));
        pairs.push(Pair { key: key.clone(), before, after, other });
    };
    for (former, applied) in kept {
        add(Some(former), Some(applied));
    }
    let moved = if has_successor { former.len().min(new.len()) } else { 0 };
    for (former, applied) in former.drain(..moved).zip(new.drain(..moved)) {
        add(Some(former), Some(applied));
    }
    for former in former {
        add(Some(former), None);
    }
    for applied in new {
        add(None, Some(applied));
    }
}

/// The addresses of the parts of a list; zero for an empty part.
fn parts(objects: &Objects) -> [usize; 2] {
    let (shared, own) = (objects.shared(), objects.own());
    let address = |is_empty: bool, address: usize| if is_empty { 0 } else { address };
    [address(shared.is_empty(), shared.as_ptr().addr()), address(own.is_empty(), own.as_ptr().addr())]
}

fn positions<'a>(objects: impl Iterator<Item = (usize, &'a Object)>) -> Index<ObjectKey, usize> {
    let mut positions = Index::default();
    for (at, object) in objects {
        positions.entry_or(ObjectKey::of(object), || at);
    }
    positions
}

/// The differences of two lists whose shared parts are alike.
fn differing_in_own(old: &Objects, new: &Objects) -> Vec<ObjectKey> {
    let positions: BTreeSet<usize> = old.own().iter().chain(new.own().iter()).map(|(at, _)| *at).collect();
    let pairs = positions.into_iter().filter_map(|at| old.get(at).zip(new.get(at)));
    let differing = pairs.filter(|(old, new)| !is_alike(old, new));
    differing.flat_map(|(old, new)| [ObjectKey::of(old), ObjectKey::of(new)]).collect()
}

fn differing_in_any(old: &Objects, new: &Objects) -> Vec<ObjectKey> {
    let mut earlier: BTreeMap<ObjectKey, &Object> = BTreeMap::new();
    for object in old.iter() {
        earlier.entry(ObjectKey::of(object)).or_insert(object);
    }
    let mut differing: Vec<ObjectKey> = Vec::new();
    for object in new.iter() {
        let key = ObjectKey::of(object);
        if earlier.remove(&key).is_none_or(|former| !is_alike(former, object)) {
            differing.push(key);
        }
    }
    differing.extend(earlier.into_keys());
    differing
}

/// The sets of both states by applier.
fn matching<'a>(
    before: &[&'a AppliedSet],
    after: &[&'a AppliedSet],
) -> Vec<(Option<&'a AppliedSet>, Option<&'a AppliedSet>)> {
    let is_same = |(old, new): (&&AppliedSet, &&AppliedSet)| old.by.reference == new.by.reference;
    if before.len() == after.len() && before.iter().zip(after).all(is_same) {
        return before.iter().zip(after).map(|(old, new)| (Some(*old), Some(*new))).collect();
    }
    let mut earlier: BTreeMap<&ObjectRef, Vec<&'a AppliedSet>> = BTreeMap::new();
    for set in before.iter().rev() {
        earlier.entry(&set.by.reference).or_default().push(set);
    }
    let mut pairs: Vec<_> =
        after.iter().map(|set| (earlier.get_mut(&set.by.reference).and_then(Vec::pop), Some(*set))).collect();
    pairs.extend(earlier.into_values().flatten().map(|set| (Some(set), None)));
    pairs
}
