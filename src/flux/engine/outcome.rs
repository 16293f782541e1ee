//! What came of the clusters: appliers and objects, what is wrong for which of them, what was not built and why.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::cluster_build::{Growing, Slot};
use super::undefined_variables::{Definitions, MAX_PLACES};
use super::unmatched_patches::Tally;
use crate::base::finding::{Finding, Label, ObjectRef, Severity};
use crate::flux::build::build_key::Key;
use crate::flux::build::inventory::Inventory;
use crate::flux::build::output::Output;
use crate::flux::cluster::applied_set::Brought;
use crate::flux::cluster::applier::Applier;
use crate::flux::cluster::desired_state::Cluster;
use crate::flux::cluster::lookups::Lookups;
use crate::flux::cluster::shared_position::is_shared;
use crate::flux::model::applier_kind::{ApplierKind, State};
use crate::flux::model::completion::Completion;
use crate::flux::model::objects::Objects;
use crate::flux::variables::substitute::rule_ids::UNDEFINED_VARIABLE;
use crate::kube::Object;
use crate::text::Index;
use crate::yaml::Name;

/// What was built: for every cluster, with what is wrong.
pub(crate) struct Outcome {
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) not_done: BTreeMap<String, usize>,
    pub(crate) gaps: Vec<Gap>,
}

/// Something that was not built although nothing is wrong, such as what a source without a copy holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// Why.
    pub reason: Arc<str>,
    /// How many appliers it concerns, in all clusters.
    pub appliers: usize,
    /// The clusters it concerns, sorted.
    pub clusters: Vec<Name>,
}

/// What is said of one output, which several appliers may share.
struct Said<'a> {
    output: &'a Output,
    clusters: BTreeSet<Name>,
}

/// Makes clusters of what grew.
pub(crate) fn finish(clusters: &[Growing]) -> Outcome {
    // What is said of each output, in the order in which clusters have them.
    let mut said: Vec<Said<'_>> = Vec::new();
    let mut places: Index<&Key, usize> = Index::default();
    let mut gaps: BTreeMap<Arc<str>, (usize, BTreeSet<Name>)> = BTreeMap::new();
    let (mut done, mut findings) = (Vec::new(), Vec::new());
    let completion = Completion::default();
    let mut patches = Tally::default();
    let definitions = Definitions::of(clusters);
    for cluster in clusters {
        let mut appliers = Vec::new();
        let mut brought = Vec::new();
        for (at, slot) in cluster.slots.iter().enumerate() {
            let Some(output) = &slot.output else { continue };
            let applier = Arc::new(applier(slot, at, output, &appliers));
            if let State::NotBuilt(reason) = &output.state {
                let gap = gaps.entry(reason.clone()).or_default();
                gap.0 += 1;
                gap.1.insert(cluster.root.name.clone());
            }
            if let Some(key) = &slot.key {
                let place = *places.entry_or(key, || {
                    said.push(Said { output, clusters: BTreeSet::new() });
                    said.len() - 1
                });
                if applier.shares_with.is_empty() {
                    said[place].clusters.insert(cluster.root.name.clone());
                } else {
                    let moved = output.findings.iter().map(|finding| moved(finding, &applier, &cluster.root.name));
                    findings.extend(moved);
                }
            }
            patches.take(&output.facts, &applier, &cluster.root.name);
            for finding in definitions.missed(cluster, slot, output) {
                findings.push(moved(&finding, &applier, &cluster.root.name));
            }
            brought.push(Brought {
                by: applier.clone(),
                objects: output.objects.clone(),
                completion: completion.clone(),
                inventory: Some(output.inventory.clone()),
                facts: Some(output.facts.clone()),
                unset: output.unset.clone(),
            });
            appliers.push(applier);
        }
        drop_overtaken(&mut brought);
        let lookups = Lookups::new(cluster.received.clone());
        done.push(Cluster { name: cluster.root.name.clone(), appliers, brought, lookups });
    }
    let gaps = gaps.into_iter();
    let gaps = gaps.map(|(reason, (appliers, of))| Gap { reason, appliers, clusters: of.into_iter().collect() });
    let gaps = gaps.collect();
    let mut not_done: BTreeMap<String, usize> = BTreeMap::new();
    for (what, count) in said.iter().flat_map(|said| &said.output.facts.not_done) {
        *not_done.entry(what.clone()).or_default() += count;
    }
    findings.extend(clusters.iter().flat_map(by_hand_findings));
    findings.extend(patches.findings());
    for Said { output, clusters } in said.into_iter().filter(|said| !said.clusters.is_empty()) {
        let clusters: Vec<Name> = clusters.into_iter().collect();
        findings.extend(output.findings.iter().map(|found| Finding { clusters: clusters.clone(), ..found.clone() }));
    }
    Outcome { clusters: done, findings: merged(findings), not_done, gaps }
}

fn applier(slot: &Slot, at: usize, output: &Output, before: &[Arc<Applier>]) -> Applier {
    let asks = &slot.asks;
    let others = output.built_for.iter().filter(|other| !is_shared(other, &asks.object));
    let source = asks.source.as_ref().map(|source| ObjectRef {
        api_version: "source.toolkit.fluxcd.io/v1".into(),
        kind: source.kind.clone(),
        namespace: Some(source.namespace.clone()).filter(|namespace| !namespace.is_empty()),
        name: source.name.clone(),
    });
    Applier {
        kind: asks.kind,
        reference: asks.reference.clone(),
        object: (asks.kind != ApplierKind::Bootstrap).then(|| asks.object.clone()),
        at,
        parent: slot.parent,
        brought_by: slot.parent.and_then(|parent| before.get(parent).cloned()),
        shares_with: others.cloned().collect(),
        source,
        folder: asks.folder.clone(),
        target: asks.target.clone(),
        variables: slot.variables.clone(),
        is_known: output.is_known(),
        state: output.state.clone(),
    }
}

/// A finding about a build that was made for another applier, as this one has it.
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

fn by_hand_findings(cluster: &Growing) -> Vec<Finding> {
    let name = || vec![cluster.root.name.clone()];
    cluster.root.findings.iter().map(|found| Finding { clusters: name(), ..found.clone() }).collect()
}

/// Leaves out what was applied by hand and is applied by Flux since.
fn drop_overtaken(brought: &mut [Brought]) {
    let Some((by_hand, by_flux)) = brought.split_first_mut() else { return };
    if by_hand.by.kind != ApplierKind::Bootstrap {
        return;
    }
    let by_flux = || by_flux.iter().filter(|brought| brought.by.target.is_none());
    // What names no namespace is applied into the one that Flux is installed in.
    let home = by_hand.by.reference.namespace.as_deref();
    let has = |brought: &Brought, object: &Object| {
        let in_home = |inventory: &Inventory| {
            let home = home.filter(|_| object.namespace().is_none());
            home.is_some_and(|home| inventory.has_in(home, object, &brought.objects))
        };
        let inventory = brought.inventory.as_deref();
        inventory.is_some_and(|inventory| inventory.has(object, &brought.objects) || in_home(inventory))
    };
    let kept = by_hand.objects.iter().filter(|object| !by_flux().any(|brought| has(brought, object)));
    let kept: Objects = kept.cloned().collect();
    if kept.len() < by_hand.objects.len() {
        by_hand.inventory = Some(Arc::new(Inventory::of(kept.iter())));
        by_hand.objects = kept;
    }
}

/// Merges the findings of several clusters with the same position, message and severity.
fn merged(mut findings: Vec<Finding>) -> Vec<Finding> {
    fn key(finding: &Finding) -> (&str, u32, u32, &str, &str, Severity) {
        let (path, start, len) = finding.at.span.order();
        (path, start, len, finding.rule, &finding.message, finding.severity)
    }
    findings.sort_by(|a, b| key(a).cmp(&key(b)));
    let mut merged: Vec<Finding> = Vec::new();
    for finding in findings {
        match merged.last_mut().filter(|last| key(last) == key(&finding)) {
            Some(last) => {
                // Several Kustomizations may use a variable at one position, and each could have defined it.
                if finding.rule == UNDEFINED_VARIABLE {
                    let new = finding.related.into_iter().filter(|label| !last.related.contains(label));
                    let new: Vec<Label> = new.take(MAX_PLACES.saturating_sub(last.related.len())).collect();
                    last.related.extend(new);
                }
                last.clusters.extend(finding.clusters);
                last.clusters.sort();
                last.clusters.dedup();
            }
            None => merged.push(finding),
        }
    }
    merged
}
