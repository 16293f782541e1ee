//! Patches whose target matches no object in any build.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::finding::{Finding, ObjectRef};
use crate::flux::build::output::BuildFacts;
use crate::flux::cluster::applier::Applier;
use crate::kube::Object;
use crate::kustomize::PatchTarget;
use crate::text::{Index, Span};
use crate::yaml::{Name, Node};

/// The rule of patches without a match.
const UNMATCHED_PATCH: &str = "unmatched-patch";

/// The root, the path and the offset of the target of a patch.
type PatchPosition = (Option<Arc<str>>, String, usize);

/// The patches of all builds by the position of their targets.
#[derive(Default)]
pub(crate) struct PatchTally {
    by_place: BTreeMap<PatchPosition, PatchRecord>,
    /// Builds that clusters share, by the address of their facts.
    shared: Vec<SharedBuild>,
    known: Index<usize, usize>,
}

/// A build that clusters share.
struct SharedBuild {
    facts: Arc<BuildFacts>,
    clusters: BTreeSet<Name>,
    /// The owner of each patch, or `None` if a kustomization file contains it.
    owners: Vec<Option<ObjectRef>>,
}

/// The result of a patch.
struct PatchRecord {
    /// The finding of a patch without a match; `None` once it has matched.
    missed: Option<Finding>,
    clusters: BTreeSet<Name>,
    /// The appliers that have the patch in `spec.patches`.
    owners: BTreeSet<ObjectRef>,
}

impl PatchTally {
    /// Records the patches of a build of a cluster.
    pub(crate) fn take(&mut self, facts: &Arc<BuildFacts>, applier: &Applier, cluster: &Name) {
        if facts.patch_targets.is_empty() {
            return;
        }
        if applier.shares_with.is_empty() {
            let at = *self.known.entry_or(Arc::as_ptr(facts).addr(), || {
                let owners = facts.patch_targets.iter().map(|target| owner(target, applier).cloned()).collect();
                self.shared.push(SharedBuild { facts: facts.clone(), clusters: BTreeSet::new(), owners });
                self.shared.len() - 1
            });
            self.shared[at].clusters.insert(cluster.clone());
        } else {
            for target in &facts.patch_targets {
                self.note(target, &applier.place(&target.place), Some(cluster), owner(target, applier));
            }
        }
    }

    /// Records the patches of a directory in a repository without a root.
    pub(crate) fn take_folder(&mut self, targets: &[PatchTarget]) {
        for target in targets {
            self.note(target, &target.place, None, None);
        }
    }

    fn note(&mut self, target: &PatchTarget, place: &Span, cluster: Option<&Name>, owner: Option<&ObjectRef>) {
        let file = place.file();
        let key = (file.root().cloned(), file.path().to_owned(), place.range().start);
        let record = self.by_place.entry(key).or_insert_with(|| PatchRecord {
            missed: (!target.is_matched).then(|| finding(target, place)),
            clusters: BTreeSet::new(),
            owners: BTreeSet::new(),
        });
        if target.is_matched {
            record.missed = None;
        }
        record.clusters.extend(cluster.cloned());
        record.owners.extend(owner.cloned());
    }

    /// The findings of the patches that matched nothing in any build.
    pub(crate) fn findings(mut self) -> Vec<Finding> {
        for SharedBuild { facts, clusters, owners } in std::mem::take(&mut self.shared) {
            for (target, owner) in facts.patch_targets.iter().zip(&owners) {
                self.note(target, &target.place, None, owner.as_ref());
                let file = target.place.file();
                let key = (file.root().cloned(), file.path().to_owned(), target.place.range().start);
                let record = self.by_place.get_mut(&key).filter(|record| record.missed.is_some());
                if let Some(record) = record {
                    record.clusters.extend(clusters.iter().cloned());
                }
            }
        }
        let missed = self.by_place.into_values().filter_map(|record| {
            let mut finding = record.missed?;
            if let Some(owners) = listed(&record.owners) {
                finding.message = finding.message.replacen("this patch", &format!("this patch of {owners}"), 1);
            }
            Some(Finding { clusters: record.clusters.into_iter().collect(), ..finding })
        });
        missed.collect()
    }
}

/// The applier, if it has the patch in `spec.patches`.
fn owner<'a>(target: &PatchTarget, applier: &'a Applier) -> Option<&'a ObjectRef> {
    let has_patch = |object: &Object| {
        let patches = object.node.at_keys(&["spec", "patches"]).map_or(&[][..], Node::items);
        patches.iter().filter_map(|patch| patch.get("target")).any(|written| *written.span() == target.place)
    };
    applier.object.iter().chain(&applier.shares_with).any(has_patch).then_some(&applier.reference)
}

/// The first of some objects, and the number of the others; `None` if there are none.
fn listed(objects: &BTreeSet<ObjectRef>) -> Option<String> {
    let first = objects.first()?;
    Some(match objects.len() - 1 {
        0 => first.to_string(),
        1 => format!("{first} and one other"),
        others => format!("{first} and {others} others"),
    })
}

fn finding(target: &PatchTarget, place: &Span) -> Finding {
    let message = match target.selector.as_str() {
        "" => "this patch matches no object".to_owned(),
        selector => format!("this patch matches no object: no object here is {selector}"),
    };
    let finding = Finding::warning(UNMATCHED_PATCH, place.clone(), message);
    let rest = "kustomize and Flux silently skip the patch";
    match &target.near_match {
        Some((field, object, span)) => finding
            .related(span.clone(), format!("without `{field}`, it would match {object}"))
            .help(format!("correct `{field}` of the target: {rest}")),
        None => finding.help(format!("correct the target, or remove the patch: {rest}")),
    }
}
