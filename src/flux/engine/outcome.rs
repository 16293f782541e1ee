//! The outcome of the builds: clusters, findings, and appliers that were not built.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::cluster_build::state::{ClusterBuild, Slot};
use super::undefined_variables::Definitions;
use super::unmatched_patches::PatchTally;
use crate::base::finding::{Finding, ObjectRef, Severity};
use crate::flux::build::inventory::{Fingerprint, Inventory};
use crate::flux::build::output::Output;
use crate::flux::cluster::applied_set::AppliedSet;
use crate::flux::cluster::applier::Applier;
use crate::flux::cluster::desired_state::Cluster;
use crate::flux::cluster::lookups::Lookups;
use crate::flux::cluster::shared_position::is_shared;
use crate::flux::model::applier_kind::{ApplierKind, State};
use crate::flux::model::completion::Completion;
use crate::flux::model::not_built::NotBuiltReason;
use crate::flux::model::objects::Objects;
use crate::kube::{Object, ObjectId};
use crate::text::Index;
use crate::yaml::Name;

/// The clusters with their findings.
pub(crate) struct Outcome {
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) not_done: BTreeMap<String, usize>,
    pub(crate) gaps: Vec<Gap>,
}

/// A reason why appliers were not built, other than a failed build, such as a source without a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The reason.
    pub reason: NotBuiltReason,
    /// The number of appliers with this reason, in all clusters.
    pub appliers: usize,
    /// The clusters of these appliers, sorted.
    pub clusters: Vec<Name>,
}

/// The gaps by reason, in the order of the first appliers.
#[derive(Default)]
struct Gaps<'a> {
    known: Index<&'a NotBuiltReason, usize>,
    gaps: Vec<(&'a NotBuiltReason, usize, BTreeSet<&'a Name>)>,
}

impl<'a> Gaps<'a> {
    fn add(&mut self, reason: &'a NotBuiltReason, cluster: &'a Name) {
        let Self { known, gaps } = self;
        let at = *known.entry_or(reason, || {
            gaps.push((reason, 0, BTreeSet::new()));
            gaps.len() - 1
        });
        if let Some((_, appliers, clusters)) = gaps.get_mut(at) {
            *appliers += 1;
            clusters.insert(cluster);
        }
    }

    /// The gaps, sorted by the text of their reasons. Reasons with the same text are one gap.
    fn sorted(self) -> Vec<Gap> {
        let mut sorted: BTreeMap<&NotBuiltReason, (usize, BTreeSet<&Name>)> = BTreeMap::new();
        for (reason, appliers, clusters) in self.gaps {
            let gap = sorted.entry(reason).or_default();
            gap.0 += appliers;
            gap.1.extend(clusters);
        }
        let gap = |(reason, (appliers, clusters)): (&NotBuiltReason, (usize, BTreeSet<&Name>))| Gap {
            reason: reason.clone(),
            appliers,
            clusters: clusters.into_iter().cloned().collect(),
        };
        sorted.into_iter().map(gap).collect()
    }
}

/// An output, and the clusters that share its findings.
struct OutputFindings<'a> {
    output: &'a Output,
    clusters: BTreeSet<Name>,
    is_suspended: bool,
}

/// Assembles the clusters and their findings.
pub(crate) fn finish(clusters: Vec<ClusterBuild>) -> Outcome {
    // The distinct outputs, in the order of the clusters.
    let mut distinct: Vec<OutputFindings<'_>> = Vec::new();
    let mut places: Index<(usize, bool), usize> = Index::default();
    let mut gaps = Gaps::default();
    let (mut findings, mut suspended) = (Vec::new(), Vec::new());
    let mut patches = PatchTally::default();
    let definitions = Definitions::new(&clusters);
    let completions = Completions::default();
    let mut done: Vec<Cluster> = clusters.par_iter().map(|cluster| completions.cluster(cluster)).collect();
    for (cluster, done) in clusters.iter().zip(&done) {
        for (slot, applier) in cluster.slots.iter().filter(|slot| slot.output.is_some()).zip(&done.appliers) {
            let Some(output) = &slot.output else { continue };
            if let State::NotBuilt(reason) = &output.state {
                gaps.add(reason, &cluster.root.name);
            }
            if let Some(number) = slot.output_number() {
                let is_suspended = applier.is_suspended();
                let place = *places.entry_or((number, is_suspended), || {
                    distinct.push(OutputFindings { output, clusters: BTreeSet::new(), is_suspended });
                    distinct.len() - 1
                });
                if output.findings.is_empty() {
                    // Most outputs have no findings, so their clusters are not collected.
                } else if applier.shares_with.is_empty() {
                    distinct[place].clusters.insert(cluster.root.name.clone());
                } else {
                    let moved = output.findings.iter().map(|finding| moved(finding, applier, &cluster.root.name));
                    if is_suspended { &mut suspended } else { &mut findings }.extend(moved);
                }
            }
            patches.take(&output.facts, applier, &cluster.root.name);
            for finding in definitions.missed(cluster, slot, output) {
                findings.push(moved(&finding, applier, &cluster.root.name));
            }
        }
    }
    let gaps = gaps.sorted();
    let mut not_done: BTreeMap<String, usize> = BTreeMap::new();
    for (what, count) in distinct.iter().flat_map(|shared| &shared.output.facts.not_done) {
        *not_done.entry(what.clone()).or_default() += count;
    }
    findings.extend(clusters.iter().flat_map(bootstrap_findings));
    findings.extend(patches.findings());
    for shared in distinct.into_iter().filter(|shared| !shared.clusters.is_empty()) {
        let clusters: Vec<Name> = shared.clusters.into_iter().collect();
        let own = shared.output.findings.iter().map(|found| Finding { clusters: clusters.clone(), ..found.clone() });
        if shared.is_suspended { &mut suspended } else { &mut findings }.extend(own);
    }
    add_of_suspended(&mut findings, suspended);
    for (done, cluster) in done.iter_mut().zip(clusters) {
        done.lookups = Lookups::new(cluster.index);
    }
    Outcome { clusters: done, findings, not_done, gaps }
}

/// The completions of objects, which clusters share.
struct Completions {
    none: Arc<Completion>,
    /// Of objects that another program may change.
    open: Arc<Completion>,
    /// Of objects that lack no changes.
    no_positions: Arc<BTreeSet<usize>>,
}

impl Default for Completions {
    fn default() -> Self {
        let mut open = Completion::default();
        open.open = true;
        Self { none: Arc::default(), open: Arc::new(open), no_positions: Arc::default() }
    }
}

impl Completions {
    /// The cluster with its appliers and their objects.
    fn cluster(&self, cluster: &ClusterBuild) -> Cluster {
        let mut appliers = Vec::with_capacity(cluster.slots.len());
        let mut applied_sets = Vec::with_capacity(cluster.slots.len());
        for (at, slot) in cluster.slots.iter().enumerate() {
            let Some(output) = &slot.output else { continue };
            let lacks_changes = slot.parent.is_some_and(|parent| {
                applied_sets.get(parent).is_some_and(|set: &AppliedSet| lacks_changes(set, &slot.spec.object))
            });
            let applier = Arc::new(Applier {
                lacks_changes,
                is_known: output.is_known() && !lacks_changes,
                ..applier(slot, at, output, &appliers)
            });
            let without_changes = match lacks_changes {
                true => Arc::new((0..output.objects.len()).collect()),
                false if output.facts.lacks_changes.is_empty() => self.no_positions.clone(),
                false => Arc::new(output.facts.lacks_changes.clone()),
            };
            let is_open = cluster.root.is_declared && slot.spec.kind == ApplierKind::Bootstrap;
            applied_sets.push(AppliedSet {
                by: applier.clone(),
                objects: output.objects.clone(),
                completion: if is_open { self.open.clone() } else { self.none.clone() },
                inventory: Some(output.inventory.clone()),
                facts: Some(output.facts.clone()),
                undefined: output.undefined.clone(),
                lacks_changes: without_changes,
            });
            appliers.push(applier);
        }
        remove_reapplied(&mut applied_sets);
        let root = &cluster.root;
        Cluster {
            name: root.name.clone(),
            folder: root.folder.clone(),
            evidence: root.evidence,
            appliers,
            applied_sets,
            lookups: Lookups::default(),
        }
    }
}

fn applier(slot: &Slot, at: usize, output: &Output, before: &[Arc<Applier>]) -> Applier {
    let spec = &slot.spec;
    let is_other = |other: &&Object| !is_shared(other, &spec.object);
    let built_for = &output.built_for;
    let shares_with = match built_for.iter().filter(is_other).count() {
        0 => Arc::default(),
        others if others == built_for.len() => built_for.clone(),
        _ => built_for.iter().filter(is_other).cloned().collect(),
    };
    Applier {
        fields: spec.fields().clone(),
        object: (spec.kind != ApplierKind::Bootstrap).then(|| spec.object.clone()),
        at,
        parent: slot.parent,
        parent_applier: slot.parent.and_then(|parent| before.get(parent).cloned()),
        shares_with,
        variables: slot.variables.clone(),
        is_known: output.is_known(),
        state: output.state.clone(),
        lacks_changes: false,
    }
}

/// Returns whether the object of an applier is among the objects that may lack changes.
fn lacks_changes(set: &AppliedSet, applier: &Object) -> bool {
    set.without_changes().any(|applied| ObjectId::of(applied.object) == ObjectId::of(applier))
}

/// A finding of a shared build, with the positions and the object of `applier`.
fn moved(finding: &Finding, applier: &Applier, cluster: &Name) -> Finding {
    let mut finding = finding.clone();
    finding.move_positions(|span| applier.place(span));
    let of_other = |object: &ObjectRef| applier.shares_with.iter().any(|other| other.reference() == *object);
    let own = |object: ObjectRef| if of_other(&object) { applier.reference.clone() } else { object };
    finding.object = finding.object.map(own);
    for part in finding.joint.iter_mut().flat_map(|joint| &mut joint.parts) {
        part.object = part.object.take().map(own);
    }
    finding.clusters = vec![cluster.clone()];
    finding
}

/// Adds the findings of suspended appliers, which fail only when a user resumes them.
fn add_of_suspended(findings: &mut Vec<Finding>, suspended: Vec<Finding>) {
    if suspended.is_empty() {
        return;
    }
    let key = |finding: &Finding| {
        let (path, start, _) = finding.at.span.order();
        (finding.rule, path.to_owned(), start, finding.message.clone())
    };
    let known: BTreeSet<_> = findings.iter().map(key).collect();
    let new = suspended.into_iter().filter(|finding| !known.contains(&key(finding)));
    findings.extend(new.map(|finding| Finding { severity: finding.severity.min(Severity::Warning), ..finding }));
}

/// The findings of the bootstrap, without those that a build of Flux has too.
fn bootstrap_findings(cluster: &ClusterBuild) -> Vec<Finding> {
    let place = |finding: &Finding| (finding.rule, finding.at.span.clone());
    let name = || vec![cluster.root.name.clone()];
    let slots = cluster.slots.iter().filter(|slot| slot.spec.kind != ApplierKind::Bootstrap);
    let of_flux = slots.filter_map(|slot| slot.output.as_ref()).flat_map(|output| &output.findings);
    let is_new = |found: &&Finding| !of_flux.clone().any(|other| place(other) == place(found));
    cluster.root.findings.iter().filter(is_new).map(|found| Finding { clusters: name(), ..found.clone() }).collect()
}

/// Removes the objects of the bootstrap that another applier applies too.
fn remove_reapplied(applied_sets: &mut [AppliedSet]) {
    let Some((bootstrap, by_flux)) = applied_sets.split_first_mut() else { return };
    if bootstrap.by.kind != ApplierKind::Bootstrap {
        return;
    }
    // The bootstrap applies objects without a namespace to the namespace of Flux.
    let home = bootstrap.by.reference.namespace.as_deref();
    let mut wanted: Index<Fingerprint, ()> = Index::default();
    for id in bootstrap.objects.iter().flat_map(|object| identities_in(home, object)) {
        wanted.insert(Fingerprint::of(id), ());
    }
    let mut reapplied: Index<ObjectId<'_>, ()> = Index::default();
    for set in by_flux.iter().filter(|set| set.by.target.is_none()) {
        let ids = set.inventory.as_ref().map(|inventory| inventory.identities_of(&set.objects, &wanted));
        ids.into_iter().flatten().for_each(|id| _ = reapplied.insert(id, ()));
    }
    let kept = bootstrap.objects.iter().filter(|object| !identities_in(home, object).any(|id| reapplied.contains(&id)));
    let kept: Objects = kept.cloned().collect();
    if kept.len() < bootstrap.objects.len() {
        bootstrap.inventory = Some(Arc::new(Inventory::new(kept.iter())));
        bootstrap.objects = kept;
    }
}

/// The identities that an object may have; an object without a namespace may be in the namespace `home`.
fn identities_in<'o>(home: Option<&'o str>, object: &'o Object) -> impl Iterator<Item = ObjectId<'o>> {
    let id = ObjectId::of(object);
    let in_home = home.filter(|_| object.namespace().is_none()).map(|namespace| ObjectId { namespace, ..id });
    std::iter::once(id.settled()).chain(in_home.map(ObjectId::settled))
}
