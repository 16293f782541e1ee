//! Patches whose target selects nothing wherever they are applied.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::finding::Finding;
use crate::flux::build::output::Facts;
use crate::flux::cluster::applier::Applier;
use crate::kustomize::PatchTarget;
use crate::text::{Index, Span};
use crate::yaml::Name;

/// The rule of patches that find nothing.
const UNMATCHED_PATCH: &str = "unmatched-patch";

/// The root, the path and the offset of a patch's target.
type Place = (Option<Arc<str>>, String, usize);

/// Patches by their places, as far as builds laid them.
#[derive(Default)]
pub(crate) struct Tally {
    by_place: BTreeMap<Place, Told>,
    /// Builds that clusters share, by the place of their facts in memory, and the clusters that have them.
    shared: Vec<(Arc<Facts>, BTreeSet<Name>)>,
    known: Index<usize, usize>,
}

/// What is known of a patch.
struct Told {
    /// What is said of it where it found nothing; `None` once it found something.
    missed: Option<Finding>,
    clusters: BTreeSet<Name>,
}

impl Tally {
    /// Takes the patches of a build that a cluster has.
    pub(crate) fn take(&mut self, facts: &Arc<Facts>, applier: &Applier, cluster: &Name) {
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

    /// Takes the patches of a folder in a repository without a root.
    pub(crate) fn take_folder(&mut self, targets: &[PatchTarget]) {
        for target in targets {
            self.note(target, &target.place, None);
        }
    }

    fn note(&mut self, target: &PatchTarget, place: &Span, cluster: Option<&Name>) {
        let file = place.file();
        let key = (file.root().cloned(), file.path().to_owned(), place.range().start);
        let told = self.by_place.entry(key).or_insert_with(|| Told {
            missed: (!target.is_matched).then(|| finding(target, place)),
            clusters: BTreeSet::new(),
        });
        if target.is_matched {
            told.missed = None;
        }
        told.clusters.extend(cluster.cloned());
    }

    /// What is to be said of the patches that found nothing anywhere.
    pub(crate) fn findings(mut self) -> Vec<Finding> {
        for (facts, clusters) in std::mem::take(&mut self.shared) {
            for target in &facts.patch_targets {
                self.note(target, &target.place, None);
                let file = target.place.file();
                let key = (file.root().cloned(), file.path().to_owned(), target.place.range().start);
                let told = self.by_place.get_mut(&key).filter(|told| told.missed.is_some());
                if let Some(told) = told {
                    told.clusters.extend(clusters.iter().cloned());
                }
            }
        }
        let missed = self
            .by_place
            .into_values()
            .filter_map(|told| Some(Finding { clusters: told.clusters.into_iter().collect(), ..told.missed? }));
        missed.collect()
    }
}

fn finding(target: &PatchTarget, place: &Span) -> Finding {
    let message = match target.selector.as_str() {
        "" => "this patch matches no object".to_owned(),
        asks => format!("this patch matches no object: nothing here is {asks}"),
    };
    let finding = Finding::warning(UNMATCHED_PATCH, place.clone(), message);
    let rest = "kustomize and Flux say nothing and leave the patch out";
    match &target.near_match {
        Some((field, object, span)) => finding
            .related(span.clone(), format!("but for `{field}`, it would match {object}"))
            .help(format!("correct `{field}` of the target: {rest}")),
        None => finding.help(format!("correct the target, or remove the patch: {rest}")),
    }
}
