//! The comparison of two states of a repository.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::fields;
use super::immutable::is_immutable;
use super::model::{Change, Changes, Danger, FieldChange, RightsChange, Unbuilt, What};
use super::received::received;
use super::rights::{Rights, difference, rights};
use crate::base::finding::ObjectRef;
use crate::flux::{Applied, Applier, ApplierKind, Receiver, State, Tenancy};
use crate::kube::{Object, ObjectKey, groups};
use crate::lint::memory_address;
use crate::text::Index;
use crate::yaml::Name;

/// One state of a repository: its clusters with their tenants.
#[derive(Debug)]
pub struct Side<'a> {
    /// The receivers.
    pub receivers: &'a [Receiver<'a>],
    /// The tenancy of each receiver.
    pub tenancies: &'a [Tenancy],
}

/// Compares two states of a repository.
pub fn compare(before: &Side<'_>, after: &Side<'_>) -> Changes {
    let mut found = Found::default();
    let earlier = by_name(before);
    let later = by_name(after);
    for (name, (receiver, tenancy)) in &later {
        match earlier.get(name) {
            Some((former, former_tenancy)) => {
                found.objects(name, former, receiver);
                found.rights(name, &rights(former, former_tenancy), &rights(receiver, tenancy));
            }
            None => found.changes.new_clusters.push(name.clone()),
        }
    }
    found.changes.former_clusters.extend(earlier.keys().filter(|name| !later.contains_key(*name)).cloned());
    let mut changes = found.changes;
    set_causes(&mut changes.objects);
    changes.objects.sort_by(|one, other| {
        let key = |change: &Change| (change.dangers.iter().map(Danger::order).min(), change.what.clone());
        let dangerous = |change: &Change| change.dangers.is_empty();
        let order = dangerous(one).cmp(&dangerous(other)).then_with(|| key(one).cmp(&key(other)));
        order.then_with(|| (&one.object, &one.clusters).cmp(&(&other.object, &other.clusters)))
    });
    changes
}

/// The object of an applier, whether it is added, and the clusters.
type ApplierChange<'a> = (&'a ObjectRef, bool, &'a [Name]);

/// Sets the appliers whose own addition or removal causes changes.
fn set_causes(changes: &mut [Change]) {
    let parent = |change: &Change| match &change.what {
        What::Added { by } => Some((by.clone(), true)),
        What::Removed { by } => Some((by.clone(), false)),
        What::Moved { .. } | What::Changed { .. } => None,
    };
    let mut parents: BTreeMap<ApplierChange<'_>, ObjectRef> = BTreeMap::new();
    for change in changes.iter() {
        if let Some((by, is_added)) = parent(change) {
            parents.insert((&change.object, is_added, &change.clusters), by);
        }
    }
    let cause = |change: &Change| {
        let (mut by, is_added) = parent(change)?;
        let mut cause = None;
        // An applier is below its parent, so that the number of steps is limited by the number of changes.
        for _ in 0..parents.len() {
            let Some(next) = parents.get(&(&by, is_added, change.clusters.as_slice())).cloned() else { break };
            cause = Some(std::mem::replace(&mut by, next));
        }
        cause
    };
    let causes: Vec<Option<ObjectRef>> = changes.iter().map(cause).collect();
    for (change, cause) in changes.iter_mut().zip(causes) {
        change.follows = cause;
    }
}

/// The receivers of a state by name, with their tenancies.
fn by_name<'a>(side: &Side<'a>) -> BTreeMap<Name, (&'a Receiver<'a>, &'a Tenancy)> {
    let pairs = side.receivers.iter().zip(side.tenancies);
    pairs.map(|(receiver, tenancy)| (receiver.to_string().into(), (receiver, tenancy))).collect()
}

/// The fields of a pair of objects, and a text that is equal for equal changes.
type Compared = (Arc<[FieldChange]>, Arc<str>);

#[derive(Default)]
struct Found {
    changes: Changes,
    /// Clusters share objects, so that each pair is compared once.
    compared: Index<(usize, usize), Compared>,
    /// The positions of the changes, by object and content.
    known: BTreeMap<(ObjectKey, What, Arc<str>), usize>,
    /// The positions of the changes of rights.
    known_rights: BTreeMap<(String, Vec<String>, Vec<String>), usize>,
}

impl Found {
    fn objects(&mut self, cluster: &Name, before: &Receiver<'_>, after: &Receiver<'_>) {
        let unbuilt = self.unbuilt(cluster, before, after);
        let (earlier, later) = (received(before), received(after));
        let dependents = Dependents::of(after);
        for (key, applied) in &later {
            match earlier.get(key) {
                Some(former) => self.changed(cluster, key, former, applied, &dependents),
                None if is_below(applied.by, &unbuilt.before) => {}
                None => {
                    let what = What::Added { by: applied.by.reference.clone() };
                    let dangers = if grants_rights(applied.object) { vec![Danger::Rights] } else { Vec::new() };
                    self.add(
                        cluster,
                        key,
                        what,
                        (None, Some(applied)),
                        (Arc::default(), Arc::from("")),
                        dangers,
                        &dependents,
                    );
                }
            }
        }
        for (key, former) in &earlier {
            if !later.contains_key(key) && !is_below(former.by, &unbuilt.after) {
                let what = What::Removed { by: former.by.reference.clone() };
                let mut dangers = vec![removal(former)];
                dangers.extend(grants_rights(former.object).then_some(Danger::Rights));
                self.add(
                    cluster,
                    key,
                    what,
                    (Some(former), None),
                    (Arc::default(), Arc::from("")),
                    dangers,
                    &dependents,
                );
            }
        }
    }

    fn changed(
        &mut self,
        cluster: &Name,
        key: &ObjectKey,
        former: &Applied<'_>,
        applied: &Applied<'_>,
        dependents: &Dependents,
    ) {
        let addresses = (memory_address(former.object), memory_address(applied.object));
        let compared = self.compared.entry_or(addresses, || {
            let fields = fields::compare(former.object, applied.object);
            let content = content_of(&fields, former.object, applied.object);
            (fields.into(), content.into())
        });
        let compared = compared.clone();
        let is_moved = former.by.reference != applied.by.reference;
        if compared.0.is_empty() && !is_moved {
            return;
        }
        let mut dangers: Vec<Danger> = Vec::new();
        let what = if is_moved {
            dangers.extend(prunes(former.by).then_some(Danger::Moved));
            What::Moved { from: former.by.reference.clone(), to: applied.by.reference.clone() }
        } else {
            What::Changed { by: applied.by.reference.clone() }
        };
        let immutable = compared.0.iter().find(|change| is_immutable(former.object, &change.field));
        dangers.extend(immutable.map(|change| Danger::Immutable(change.field.clone())));
        if grants_rights(applied.object) && compared.0.iter().any(|change| !change.field.starts_with("metadata")) {
            dangers.push(Danger::Rights);
        }
        let is_suspended = |object: &Object| object.text_at(&["spec", "suspend"]) == Some("true");
        if groups::is_toolkit(applied.object.group()) && is_suspended(applied.object) && !is_suspended(former.object) {
            dangers.push(Danger::Suspended);
        }
        self.add(cluster, key, what, (Some(former), Some(applied)), compared, dangers, dependents);
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one change")]
    fn add(
        &mut self,
        cluster: &Name,
        key: &ObjectKey,
        what: What,
        (before, after): (Option<&Applied<'_>>, Option<&Applied<'_>>),
        (fields, content): Compared,
        dangers: Vec<Danger>,
        dependents: &Dependents,
    ) {
        let Some(decisive) = after.or(before) else { return };
        let at = *self.known.entry((key.clone(), what.clone(), content)).or_insert_with(|| {
            let object = decisive.object;
            self.changes.objects.push(Change {
                object: object.reference(),
                notes: notes(decisive.by, dependents),
                what,
                before: before.map(|applied| applied.object.clone()),
                after: after.map(|applied| applied.object.clone()),
                fields: fields.to_vec(),
                at: decisive.by.place(object.span()),
                dangers,
                follows: None,
                clusters: Vec::new(),
            });
            self.changes.objects.len() - 1
        });
        if let Some(change) = self.changes.objects.get_mut(at).filter(|_| !cluster.is_empty()) {
            change.clusters.push(cluster.clone());
        }
    }

    fn rights(&mut self, cluster: &Name, before: &Rights, after: &Rights) {
        let none = BTreeMap::new();
        let accounts: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for account in accounts {
            let (former, own) = (before.get(account).unwrap_or(&none), after.get(account).unwrap_or(&none));
            let (gained, lost) = (difference(own, former), difference(former, own));
            if gained.is_empty() && lost.is_empty() {
                continue;
            }
            let key = (account.clone(), gained.clone(), lost.clone());
            let at = *self.known_rights.entry(key).or_insert_with(|| {
                self.changes.rights.push(RightsChange { account: account.clone(), gained, lost, clusters: Vec::new() });
                self.changes.rights.len() - 1
            });
            if let Some(change) = self.changes.rights.get_mut(at).filter(|_| !cluster.is_empty()) {
                change.clusters.push(cluster.clone());
            }
        }
    }

    /// Records the appliers of a cluster that only one state builds.
    fn unbuilt(&mut self, cluster: &Name, before: &Receiver<'_>, after: &Receiver<'_>) -> UnbuiltAppliers {
        let states = |receiver: &Receiver<'_>| -> BTreeMap<ObjectRef, State> {
            let own = receiver.cluster.appliers.iter().filter(|applier| applier.kind != ApplierKind::Bootstrap);
            own.map(|applier| (applier.reference.clone(), applier.state.clone())).collect()
        };
        let (earlier, later) = (states(before), states(after));
        let mut unbuilt = UnbuiltAppliers::default();
        for (all, is_later) in [(&earlier, false), (&later, true)] {
            let other = if is_later { &earlier } else { &later };
            for (applier, state) in all.iter().filter(|(_, state)| **state != State::Built) {
                let own = if is_later { &mut unbuilt.after } else { &mut unbuilt.before };
                own.insert(applier.clone());
                let failed = *state == State::Failed;
                // Nothing can be said about an applier that neither state builds.
                if !failed && other.get(applier).is_none_or(|state| *state != State::Built) {
                    continue;
                }
                let reason = match state {
                    State::NotBuilt(reason) => reason.to_string(),
                    State::Built | State::Failed => "its build fails".to_owned(),
                };
                self.add_unbuilt(
                    Unbuilt { applier: applier.clone(), is_later, failed, reason, clusters: Vec::new() },
                    cluster,
                );
            }
        }
        unbuilt
    }

    fn add_unbuilt(&mut self, unbuilt: Unbuilt, cluster: &Name) {
        let all = &mut self.changes.unbuilt;
        let is_same = |other: &Unbuilt| {
            other.applier == unbuilt.applier && other.is_later == unbuilt.is_later && other.reason == unbuilt.reason
        };
        let at = all.iter().position(is_same).unwrap_or_else(|| {
            all.push(unbuilt);
            all.len() - 1
        });
        if let Some(known) = all.get_mut(at).filter(|_| !cluster.is_empty()) {
            known.clusters.push(cluster.clone());
        }
    }
}

/// The appliers without a build, in each state.
#[derive(Default)]
struct UnbuiltAppliers {
    before: BTreeSet<ObjectRef>,
    after: BTreeSet<ObjectRef>,
}

/// Returns whether an applier or one of its ancestors is in a set.
fn is_below(applier: &Arc<Applier>, unbuilt: &BTreeSet<ObjectRef>) -> bool {
    let mut next = Some(applier);
    while let Some(applier) = next {
        if unbuilt.contains(&applier.reference) {
            return true;
        }
        next = applier.parent_applier.as_ref();
    }
    false
}

/// The text of the changed fields, with their values.
fn content_of(changes: &[FieldChange], before: &Object, after: &Object) -> String {
    let value = |path: &Option<crate::yaml::Path>, object: &Object| {
        let node = path.as_ref().and_then(|path| path.find(&object.node));
        node.map_or_else(|| "-".to_owned(), fields::canonical)
    };
    let line = |change: &FieldChange| {
        format!("{}\0{}\0{}\n", change.field, value(&change.before, before), value(&change.after, after))
    };
    changes.iter().map(line).collect()
}

/// Returns whether an applier deletes the objects that it does not apply any more.
fn prunes(applier: &Applier) -> bool {
    match applier.kind {
        ApplierKind::Kustomization => {
            applier.object.as_ref().is_none_or(|object| object.text_at(&["spec", "prune"]) == Some("true"))
        }
        ApplierKind::ResourceSet | ApplierKind::FluxInstance => true,
        ApplierKind::Bootstrap | ApplierKind::Folder => false,
    }
}

/// The danger of a removal.
fn removal(former: &Applied<'_>) -> Danger {
    let keeps = |key: &str| {
        let value = |field: &str| former.object.text_at(&["metadata", field, key]);
        ["labels", "annotations"].into_iter().filter_map(value).any(|value| value.eq_ignore_ascii_case("disabled"))
    };
    if !prunes(former.by) || keeps("kustomize.toolkit.fluxcd.io/prune") {
        return Danger::Orphaned;
    }
    let object = former.object;
    Danger::Pruned(match (object.group(), object.kind()) {
        ("", "Namespace") => "Kubernetes deletes all objects in the namespace",
        ("", "PersistentVolumeClaim" | "PersistentVolume") => "the data of the volume may be lost",
        ("apps", "StatefulSet") => "its Pods stop",
        ("apiextensions.k8s.io", "CustomResourceDefinition") => "Kubernetes deletes all objects of the kind",
        (groups::KUSTOMIZE, "Kustomization") => "with `prune`, Flux deletes all its objects too",
        (groups::HELM, "HelmRelease") => "Flux uninstalls the chart",
        _ => "",
    })
}

fn grants_rights(object: &Object) -> bool {
    object.group() == groups::RBAC
}

/// The Kustomizations of a cluster that depend on others.
struct Dependents(BTreeMap<String, Vec<String>>);

impl Dependents {
    fn of(receiver: &Receiver<'_>) -> Self {
        let mut dependents: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for applier in &receiver.cluster.appliers {
            let Some(object) = applier.object.as_ref().filter(|_| applier.kind == ApplierKind::Kustomization) else {
                continue;
            };
            let own = object.namespace().unwrap_or_default();
            let list = object.node.at_keys(&["spec", "dependsOn"]);
            for item in list.into_iter().flat_map(crate::yaml::Node::items) {
                let text = |key: &str| item.get(key).and_then(crate::yaml::Node::text);
                let Some(name) = text("name") else { continue };
                let namespace = text("namespace").unwrap_or(own);
                dependents.entry(format!("{namespace}/{name}")).or_default().push(applier.reference.to_string());
            }
        }
        Self(dependents)
    }
}

/// Consequences that depend on the applier.
fn notes(by: &Applier, dependents: &Dependents) -> Vec<String> {
    let mut notes = Vec::new();
    if by.is_suspended() {
        notes.push(format!("{} is suspended: the change has no effect until it is resumed", by.reference));
    }
    if by.kind == ApplierKind::Kustomization {
        let name = format!("{}/{}", by.reference.namespace.as_deref().unwrap_or_default(), by.reference.name);
        let waiting = dependents.0.get(&name).map_or(&[][..], Vec::as_slice);
        if let Some(first) = waiting.first() {
            let more = if waiting.len() > 1 { format!(" and {} more", waiting.len() - 1) } else { String::new() };
            notes.push(format!("{first}{more} depends on {}", by.reference));
        }
    }
    notes
}
