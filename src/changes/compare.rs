//! The comparison of two states of a repository.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arcstr::ArcStr;

use super::appliers::LaterAppliers;
use super::cause::set_causes;
use super::danger;
use super::fields;
use super::model::{Change, Changes, Danger, FieldChange, What};
use super::received::{Lists, Pair};
use super::rights::{self, Affected, AllRights};
use super::side::Side;
use super::unbuilt::{AllUnbuilt, UnbuiltAppliers, is_below};
use crate::base::finding::ObjectRef;
use crate::flux::{Applied, ApplierKind, ApplyMode, Receiver};
use crate::kube::{Object, ObjectKey};
use crate::lint::memory_address;
use crate::text::Index;
use crate::yaml::{Name, Path};

/// Compares two states of a repository.
pub fn compare(before: &Side<'_>, after: &Side<'_>) -> Changes {
    let mut found = Found::default();
    let mut unbuilt = AllUnbuilt::new(before.repo, after.repo);
    let mut affected: Vec<Affected> = Vec::new();
    let (earlier, later) = (by_name(before), by_name(after));
    for (name, (number, receiver)) in &later {
        let Some((former_number, former)) = earlier.get(name) else {
            if !name.is_empty() && !unbuilt.add_lost(name, receiver, false) {
                found.new_clusters.push(name.clone());
            }
            continue;
        };
        let unbuilt = unbuilt.add(name, former, receiver);
        if found.objects(name, former, receiver, &unbuilt) {
            affected.push(Affected {
                cluster: name.clone(),
                receivers: [*former_number, *number],
                hides_gains: unbuilt.is_only_before,
                hides_losses: unbuilt.is_only_after,
            });
        }
    }
    let mut former_clusters = Vec::new();
    for (name, (_, receiver)) in &earlier {
        if !name.is_empty() && !later.contains_key(name) && !unbuilt.add_lost(name, receiver, true) {
            former_clusters.push(name.clone());
        }
    }
    let rights = AllRights::of(before, after, &affected);
    let mut changes = Changes {
        new_clusters: found.new_clusters,
        former_clusters,
        objects: found.changes,
        rights: rights.changes,
        uncompared_rights: rights.uncompared,
        unread: Vec::new(),
        unbuilt: unbuilt.found,
    };
    for (change, remarks) in changes.objects.iter_mut().zip(found.remarks) {
        change.notes.extend(remarks.notes(change.what.by()));
    }
    set_causes(&mut changes.objects);
    changes.objects.sort_by(|one, other| {
        let key = |change: &Change| (change.dangers.iter().map(Danger::order).min(), change.what.clone());
        let dangerous = |change: &Change| change.dangers.is_empty();
        let order = dangerous(one).cmp(&dangerous(other)).then_with(|| key(one).cmp(&key(other)));
        order.then_with(|| (&one.object, &one.clusters).cmp(&(&other.object, &other.clusters)))
    });
    changes
}

/// The receivers of a state by name, with their numbers.
fn by_name<'a>(side: &Side<'a>) -> BTreeMap<Name, (usize, &'a Receiver<'a>)> {
    let numbered = side.receivers.iter().enumerate();
    numbered.map(|(number, receiver)| (receiver.to_string().into(), (number, receiver))).collect()
}

/// The fields of a pair of objects, and a text that is equal for equal changes.
type Compared = (Arc<[FieldChange]>, ArcStr);

#[derive(Default)]
struct Found {
    new_clusters: Vec<Name>,
    changes: Vec<Change>,
    lists: Lists,
    /// Clusters share objects, so that each pair is compared once.
    compared: Index<(usize, usize), Compared>,
    /// The positions of the changes.
    known: BTreeMap<Identity, usize>,
    /// What the receivers of each change add to its notes.
    remarks: Vec<Remarks>,
}

/// The consequences and places of a change, of all its receivers.
#[derive(Default)]
struct Remarks {
    /// The Kustomizations that depend on the applier on any of the clusters.
    dependents: BTreeSet<ObjectRef>,
    /// The other directories with the same change, in a repository without a cluster.
    folders: BTreeSet<ObjectRef>,
}

/// What the same change of several clusters has in common: the object, the kind, the content, the dangers and the notes.
type Identity = (ObjectKey, What, ArcStr, Vec<Danger>, Vec<String>);

impl Found {
    /// Compares the objects of a cluster. Returns whether a change may affect rights.
    fn objects<'a>(
        &mut self,
        cluster: &Name,
        before: &Receiver<'a>,
        after: &Receiver<'a>,
        unbuilt: &UnbuiltAppliers,
    ) -> bool {
        let later = LazyCell::new(|| LaterAppliers::of(after));
        let mut affects_rights = false;
        for pair in self.lists.pairs(before, after) {
            let Some(difference) = self.difference(&pair, unbuilt, &later) else { continue };
            affects_rights |= rights::depend_on(&pair);
            self.add(cluster, &pair, difference, &later);
        }
        affects_rights
    }

    /// The difference of an object; `None` if it is the same or unknown.
    fn difference<'a>(
        &mut self,
        pair: &Pair<'a>,
        unbuilt: &UnbuiltAppliers,
        later: &LazyCell<LaterAppliers<'a>, impl FnOnce() -> LaterAppliers<'a>>,
    ) -> Option<Difference> {
        let no_fields = || -> Compared { (Arc::default(), ArcStr::new()) };
        match (&pair.before, &pair.after) {
            (Some(former), Some(applied)) if unbuilt.hide(former.by, applied.by) => None,
            (Some(former), Some(applied)) => {
                let (what, compared) = self.changed(former, applied)?;
                Some(Difference { what, dangers: danger::of_change(former, applied, &compared.0, later), compared })
            }
            (None, Some(applied)) => (!is_below(applied.by, &unbuilt.before)).then(|| Difference {
                what: What::Added { by: applied.by.reference.clone() },
                dangers: danger::of_addition(pair, applied),
                compared: no_fields(),
            }),
            (Some(former), None) => (!is_below(former.by, &unbuilt.after)).then(|| Difference {
                what: What::Removed { by: former.by.reference.clone() },
                dangers: danger::of_removal(pair, former, later),
                compared: no_fields(),
            }),
            (None, None) => None,
        }
    }

    fn changed(&mut self, former: &Applied<'_>, applied: &Applied<'_>) -> Option<(What, Compared)> {
        let addresses = (memory_address(former.object), memory_address(applied.object));
        let compared = self.compared.entry_or(addresses, || {
            let fields = fields::compare(former.object, applied.object);
            let content = content_of(&fields, former.object, applied.object);
            (fields.into(), content.into())
        });
        let compared = compared.clone();
        let (from, to) = (&former.by.reference, &applied.by.reference);
        if compared.0.is_empty() && from == to {
            return None;
        }
        let what = if from == to {
            What::Changed { by: to.clone() }
        } else {
            What::Moved { from: from.clone(), to: to.clone() }
        };
        Some((what, compared))
    }

    fn add<'a>(
        &mut self,
        cluster: &Name,
        pair: &Pair<'a>,
        difference: Difference,
        later: &LazyCell<LaterAppliers<'a>, impl FnOnce() -> LaterAppliers<'a>>,
    ) {
        let Some(decisive) = pair.after.or(pair.before) else { return };
        let Difference { what, dangers, compared: (fields, content) } = difference;
        let notes = self.notes(pair, &decisive, &dangers, later);
        // A repository without a cluster has an applier for each directory, and directories share bases.
        let is_folder = decisive.by.kind == ApplierKind::Folder;
        let shared = if is_folder { what.without_applier() } else { what.clone() };
        let identity = (pair.key.clone(), shared, content, dangers.clone(), notes.clone());
        let at = *self.known.entry(identity).or_insert_with(|| {
            self.changes.push(Change {
                object: decisive.object.reference(),
                notes,
                what,
                before: pair.before.map(|applied| applied.object.clone()),
                after: pair.after.map(|applied| applied.object.clone()),
                fields: fields.to_vec(),
                at: decisive.by.place(decisive.object.span()),
                dangers,
                follows: None,
                clusters: Vec::new(),
            });
            self.remarks.push(Remarks::default());
            self.changes.len() - 1
        });
        let Some((change, remarks)) = self.changes.get_mut(at).zip(self.remarks.get_mut(at)) else { return };
        for dependent in later.dependents(decisive.by) {
            if !remarks.dependents.contains(dependent) {
                remarks.dependents.insert(dependent.clone());
            }
        }
        if is_folder && *change.what.by() != decisive.by.reference {
            remarks.folders.insert(decisive.by.reference.clone());
        }
        if !cluster.is_empty() {
            change.clusters.push(cluster.clone());
        }
    }

    /// The consequences of a change that are not dangers.
    fn notes(
        &mut self,
        pair: &Pair<'_>,
        decisive: &Applied<'_>,
        dangers: &[Danger],
        later: &LaterAppliers<'_>,
    ) -> Vec<String> {
        let mut notes = Vec::new();
        let mut add = |suspended: Option<ObjectRef>, what: &str| {
            notes.extend(suspended.map(|by| format!("{by} is suspended: {what} until it is resumed")));
        };
        let suspended = later.suspended(decisive.by, &mut self.lists);
        match pair.before.filter(|former| pair.after.is_some() && former.by.reference != decisive.by.reference) {
            Some(former) => {
                let of_former = later.suspended(former.by, &mut self.lists);
                let is_same = suspended == of_former;
                add(of_former, if is_same { "the change has no effect" } else { "it does not delete the object" });
                add(suspended.filter(|_| !is_same), "it does not apply the object");
            }
            None => add(suspended, "the change has no effect"),
        }
        let is_change = pair.before.is_some() && pair.after.is_some();
        if is_change && decisive.apply_mode() == ApplyMode::Created {
            notes.push("`ssa: IfNotPresent`: Flux does not change an existing object".to_owned());
        }
        let is_named = dangers.iter().any(|danger| matches!(danger, Danger::Shared(_)));
        if let Some(other) = pair.other.filter(|_| !is_change && !is_named) {
            notes.push(format!("{other} applies the object too"));
        }
        notes
    }
}

/// The difference of an object between two states.
struct Difference {
    what: What,
    dangers: Vec<Danger>,
    compared: Compared,
}

/// The text of the changed fields, with their values.
fn content_of(changes: &[FieldChange], before: &Object, after: &Object) -> String {
    let value = |path: &Option<Path>, object: &Object| {
        let node = path.as_ref().and_then(|path| path.find(&object.node));
        node.map_or_else(|| "-".to_owned(), fields::canonical)
    };
    let line = |change: &FieldChange| {
        format!("{}\0{}\0{}\n", change.field, value(&change.before, before), value(&change.after, after))
    };
    changes.iter().map(line).collect()
}

impl Remarks {
    /// The notes of a change of an applier.
    fn notes(&self, by: &ObjectRef) -> impl Iterator<Item = String> {
        let named = |names: &BTreeSet<ObjectRef>, [one, several]: [&str; 2]| {
            let first = names.first()?;
            Some(match names.len() {
                1 => format!("{first} {one}"),
                2 => format!("{first} and 1 other {several}"),
                count => format!("{first} and {} others {several}", count - 1),
            })
        };
        let [depends, depend] = ["depends", "depend"].map(|verb| format!("{verb} on {by}"));
        let dependents = named(&self.dependents, [depends.as_str(), depend.as_str()]);
        let folders = named(&self.folders, ["has the same change", "have the same change"]);
        [dependents, folders].into_iter().flatten()
    }
}
