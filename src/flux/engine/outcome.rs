//! The outcome of the builds: clusters, findings, and appliers that were not built.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::cluster_build::{ClusterBuild, Slot};
use super::undefined_variables::Definitions;
use super::unmatched_patches::PatchTally;
use crate::base::finding::{Finding, ObjectRef};
use crate::flux::build::build_key::BuildKey;
use crate::flux::build::inventory::Inventory;
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
use crate::kube::Object;
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
}

/// Assembles the clusters and their findings.
pub(crate) fn finish(clusters: Vec<ClusterBuild>) -> Outcome {
    // The distinct outputs, in the order of the clusters.
    let mut distinct: Vec<OutputFindings<'_>> = Vec::new();
    let mut places: Index<&BuildKey, usize> = Index::default();
    let mut gaps = Gaps::default();
    let (mut done, mut findings): (Vec<Cluster>, _) = (Vec::with_capacity(clusters.len()), Vec::new());
    let unchanged = Completion::default();
    let mut patches = PatchTally::default();
    let definitions = Definitions::new(&clusters);
    for cluster in &clusters {
        let mut appliers = Vec::new();
        let mut applied_sets = Vec::new();
        for (at, slot) in cluster.slots.iter().enumerate() {
            let Some(output) = &slot.output else { continue };
            let applier = Arc::new(applier(slot, at, output, &appliers));
            if let State::NotBuilt(reason) = &output.state {
                gaps.add(reason, &cluster.root.name);
            }
            if let Some(key) = &slot.key {
                let place = *places.entry_or(key, || {
                    distinct.push(OutputFindings { output, clusters: BTreeSet::new() });
                    distinct.len() - 1
                });
                if applier.shares_with.is_empty() {
                    distinct[place].clusters.insert(cluster.root.name.clone());
                } else {
                    let moved = output.findings.iter().map(|finding| moved(finding, &applier, &cluster.root.name));
                    findings.extend(moved);
                }
            }
            patches.take(&output.facts, &applier, &cluster.root.name);
            for finding in definitions.missed(cluster, slot, output) {
                findings.push(moved(&finding, &applier, &cluster.root.name));
            }
            let mut completion = unchanged.clone();
            completion.open = cluster.root.is_declared && slot.spec.kind == ApplierKind::Bootstrap;
            applied_sets.push(AppliedSet {
                by: applier.clone(),
                objects: output.objects.clone(),
                completion,
                inventory: Some(output.inventory.clone()),
                facts: Some(output.facts.clone()),
                undefined: output.undefined.clone(),
            });
            appliers.push(applier);
        }
        remove_reapplied(&mut applied_sets);
        let lookups = Lookups::default();
        let (name, folder) = (cluster.root.name.clone(), cluster.root.folder.clone());
        done.push(Cluster { name, folder, appliers, applied_sets, lookups });
    }
    let gaps = gaps.sorted();
    let mut not_done: BTreeMap<String, usize> = BTreeMap::new();
    for (what, count) in distinct.iter().flat_map(|shared| &shared.output.facts.not_done) {
        *not_done.entry(what.clone()).or_default() += count;
    }
    findings.extend(clusters.iter().flat_map(bootstrap_findings));
    findings.extend(patches.findings());
    for OutputFindings { output, clusters } in distinct.into_iter().filter(|shared| !shared.clusters.is_empty()) {
        let clusters: Vec<Name> = clusters.into_iter().collect();
        findings.extend(output.findings.iter().map(|found| Finding { clusters: clusters.clone(), ..found.clone() }));
    }
    for (done, cluster) in done.iter_mut().zip(clusters) {
        done.lookups = Lookups::new(cluster.index.without_cache());
    }
    Outcome { clusters: done, findings, not_done, gaps }
}

fn applier(slot: &Slot, at: usize, output: &Output, before: &[Arc<Applier>]) -> Applier {
    let spec = &slot.spec;
    let others = output.built_for.iter().filter(|other| !is_shared(other, &spec.object));
    Applier {
        kind: spec.kind,
        reference: spec.reference.clone(),
        object: (spec.kind != ApplierKind::Bootstrap).then(|| spec.object.clone()),
        at,
        parent: slot.parent,
        parent_applier: slot.parent.and_then(|parent| before.get(parent).cloned()),
        shares_with: others.cloned().collect(),
        source: spec.source_reference.clone(),
        folder: spec.folder.clone(),
        target: spec.target.clone(),
        variables: slot.variables.clone(),
        is_known: output.is_known(),
        state: output.state.clone(),
    }
}

/// A finding of a shared build, with the positions and the object of `applier`.
fn moved(finding: &Finding, applier: &Applier, cluster: &Name) -> Finding {
    let mut finding = finding.clone();
    for label in std::iter::once(&mut finding.at).chain(&mut finding.related) {
        label.span = applier.place(&label.span);
    }
    let of_other = |object: &ObjectRef| applier.shares_with.iter().any(|other| other.reference() == *object);
    finding.object = finding.object.map(|object| if of_other(&object) { applier.reference.clone() } else { object });
    finding.clusters = vec![cluster.clone()];
    finding
}

fn bootstrap_findings(cluster: &ClusterBuild) -> Vec<Finding> {
    let name = || vec![cluster.root.name.clone()];
    cluster.root.findings.iter().map(|found| Finding { clusters: name(), ..found.clone() }).collect()
}

/// Removes the objects of the bootstrap that another applier applies too.
fn remove_reapplied(applied_sets: &mut [AppliedSet]) {
    let Some((bootstrap, by_flux)) = applied_sets.split_first_mut() else { return };
    if bootstrap.by.kind != ApplierKind::Bootstrap {
        return;
    }
    let by_flux = || by_flux.iter().filter(|set| set.by.target.is_none());
    // The bootstrap applies objects without a namespace to the namespace of Flux.
    let home = bootstrap.by.reference.namespace.as_deref();
    let has = |set: &AppliedSet, object: &Object| {
        let in_home = |inventory: &Inventory| {
            let home = home.filter(|_| object.namespace().is_none());
            home.is_some_and(|home| inventory.has_in(home, object, &set.objects))
        };
        let inventory = set.inventory.as_deref();
        inventory.is_some_and(|inventory| inventory.has(object, &set.objects) || in_home(inventory))
    };
    let kept = bootstrap.objects.iter().filter(|object| !by_flux().any(|set| has(set, object)));
    let kept: Objects = kept.cloned().collect();
    if kept.len() < bootstrap.objects.len() {
        bootstrap.inventory = Some(Arc::new(Inventory::new(kept.iter())));
        bootstrap.objects = kept;
    }
}
