//! The comparison of two states of a repository.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use arcstr::ArcStr;

use super::cause::set_causes;
use super::danger;
use super::dependents::Dependents;
use super::fields;
use super::model::{Change, Changes, Danger, FieldChange, What};
use super::received::{Lists, Pair};
use super::rights::{self, Affected, AllRights};
use super::side::Side;
use super::unbuilt::{AllUnbuilt, UnbuiltAppliers, is_below};
use crate::flux::{Applied, Receiver};
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
        unbuilt: unbuilt.found,
    };
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
    /// The positions of the changes, by object and content.
    known: BTreeMap<(ObjectKey, What, ArcStr), usize>,
}

impl Found {
    /// Compares the objects of a cluster. Returns whether a change may affect rights.
    fn objects<'a>(
        &mut self,
        cluster: &Name,
        before: &Receiver<'a>,
        after: &Receiver<'a>,
        unbuilt: &UnbuiltAppliers,
    ) -> bool {
        let dependents = LazyCell::new(|| Dependents::of(after));
        let mut affects_rights = false;
        for pair in self.lists.pairs(before, after) {
            let Some(difference) = self.difference(&pair, unbuilt) else { continue };
            affects_rights |= rights::depend_on(&pair);
            self.add(cluster, &pair, difference, &dependents);
        }
        affects_rights
    }

    /// The difference of an object; `None` if it is the same or unknown.
    fn difference(&mut self, pair: &Pair<'_>, unbuilt: &UnbuiltAppliers) -> Option<Difference> {
        let no_fields = || -> Compared { (Arc::default(), ArcStr::new()) };
        match (&pair.before, &pair.after) {
            (Some(former), Some(applied)) if unbuilt.hide(former.by, applied.by) => None,
            (Some(former), Some(applied)) => self.changed(former, applied),
            (None, Some(applied)) => (!is_below(applied.by, &unbuilt.before)).then(|| Difference {
                what: What::Added { by: applied.by.reference.clone() },
                dangers: danger::of_addition(applied),
                compared: no_fields(),
            }),
            (Some(former), None) => (!is_below(former.by, &unbuilt.after)).then(|| Difference {
                what: What::Removed { by: former.by.reference.clone() },
                dangers: danger::of_removal(former),
                compared: no_fields(),
            }),
            (None, None) => None,
        }
    }

    fn changed(&mut self, former: &Applied<'_>, applied: &Applied<'_>) -> Option<Difference> {
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
        Some(Difference { what, dangers: danger::of_change(former, applied, &compared.0), compared })
    }

    fn add(
        &mut self,
        cluster: &Name,
        pair: &Pair<'_>,
        difference: Difference,
        dependents: &LazyCell<Dependents, impl FnOnce() -> Dependents>,
    ) {
        let Some(decisive) = pair.after.or(pair.before) else { return };
        let Difference { what, dangers, compared: (fields, content) } = difference;
        let at = *self.known.entry((pair.key.clone(), what.clone(), content)).or_insert_with(|| {
            self.changes.push(Change {
                object: decisive.object.reference(),
                notes: dependents.notes(decisive.by),
                what,
                before: pair.before.map(|applied| applied.object.clone()),
                after: pair.after.map(|applied| applied.object.clone()),
                fields: fields.to_vec(),
                at: decisive.by.place(decisive.object.span()),
                dangers,
                follows: None,
                clusters: Vec::new(),
            });
            self.changes.len() - 1
        });
        if let Some(change) = self.changes.get_mut(at).filter(|_| !cluster.is_empty()) {
            change.clusters.push(cluster.clone());
        }
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
