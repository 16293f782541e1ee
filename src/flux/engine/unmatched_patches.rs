//! Patches whose target matches no object in any build.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::finding::Finding;
use crate::flux::build::output::BuildFacts;
use crate::flux::cluster::applier::Applier;
use crate::kustomize::PatchTarget;
use crate::text::{Index, Span};
use crate::yaml::Name;

/// The rule of patches without a match.
const UNMATCHED_PATCH: &str = "unmatched-patch";

/// The root, the path and the offset of the target of a patch.
type PatchPosition = (Option<Arc<str>>, String, usize);

/// The patches of all builds by the position of their targets.
#[derive(Default)]
pub(crate) struct PatchTally {
    by_place: BTreeMap<PatchPosition, PatchRecord>,
    /// Builds that clusters share, by the address of their facts, and their clusters.
    shared: Vec<(Arc<BuildFacts>, BTreeSet<Name>)>,
    known: Index<usize, usize>,
}

/// The result of a patch.
struct PatchRecord {
    /// The finding of a patch without a match; `None` once it has matched.
    missed: Option<Finding>,
    clusters: BTreeSet<Name>,
}

impl PatchTally {
    /// Records the patches of a build of a cluster.
    pub(crate) fn take(&mut self, facts: &Arc<BuildFacts>, applier: &Applier, cluster: &Name) {
        if facts.patch_targets.is_empty() {
            return;
        }
        if applier.shares_with.is_empty() {
            let at = *self.known.entry_or(Arc::as_ptr(facts).addr(), || {
                self.shared.push((facts.clone(), BTreeSet::new()));
                self.shared.len() - 1
            });
            self.shared[at].1.insert(cluster.clone());
        } else {
            for target in &facts.patch_targets {
                self.note(target, &applier.place(&target.place), Some(cluster));
            }
        }
    }

    /// Records the patches of a directory in a repository without a root.
    pub(crate) fn take_folder(&mut self, targets: &[PatchTarget]) {
        for target in targets {
            self.note(target, &target.place, None);
        }
    }

    fn note(&mut self, target: &PatchTarget, place: &Span, cluster: Option<&Name>) {
        let file = place.file();
        let key = (file.root().cloned(), file.path().to_owned(), place.range().start);
        let record = self.by_place.entry(key).or_insert_with(|| PatchRecord {
            missed: (!target.is_matched).then(|| finding(target, place)),
            clusters: BTreeSet::new(),
        });
        if target.is_matched {
            record.missed = None;
        }
        record.clusters.extend(cluster.cloned());
    }

    /// The findings of the patches that matched nothing in any build.
    pub(crate) fn findings(mut self) -> Vec<Finding> {
        for (facts, clusters) in std::mem::take(&mut self.shared) {
            for target in &facts.patch_targets {
                self.note(target, &target.place, None);
                let file = target.place.file();
                let key = (file.root().cloned(), file.path().to_owned(), target.place.range().start);
                let record = self.by_place.get_mut(&key).filter(|record| record.missed.is_some());
                if let Some(record) = record {
                    record.clusters.extend(clusters.iter().cloned());
                }
            }
        }
        let missed = self
            .by_place
            .into_values()
            .filter_map(|record| Some(Finding { clusters: record.clusters.into_iter().collect(), ..record.missed? }));
        missed.collect()
    }
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
