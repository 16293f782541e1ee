//! Objects that the appliers of directories apply: the cluster of a repository without a root, and the objects that no
//! cluster receives.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arcstr::ArcStr;

use crate::base::set_aside::is_test_data;
use crate::flux::cluster::applied_set::AppliedSet;
use crate::flux::cluster::applier::Applier;
use crate::flux::cluster::desired_state::Cluster;
use crate::flux::cluster::lookups::Lookups;
use crate::flux::install::roots::evidence::RootEvidence;
use crate::flux::model::built_object::Built;

/// The only cluster of a repository without a root. The cluster receives the objects of every directory except test
/// data.
pub(super) fn only_cluster(objects: &[Built]) -> Cluster {
    let is_aside = |built: &&Built| is_test_data(built.object.span().file().path());
    let (appliers, applied_sets) = in_directories(objects.iter().filter(|built| !is_aside(built)));
    Cluster {
        name: "".into(),
        folder: String::new(),
        evidence: RootEvidence::default(),
        appliers,
        applied_sets,
        lookups: Lookups::default(),
    }
}

/// The appliers of the directories of objects, and the sets that they apply.
pub(super) fn in_directories<'a>(objects: impl Iterator<Item = &'a Built>) -> (Vec<Arc<Applier>>, Vec<AppliedSet>) {
    let (mut appliers, mut applied_sets) = (Vec::new(), Vec::new());
    let mut by_folder: BTreeMap<ArcStr, Arc<Applier>> = BTreeMap::new();
    for built in objects {
        let by = by_folder.entry(built.folder.clone()).or_insert_with(|| {
            let applier = Arc::new(Applier::folder(&built.folder, appliers.len()));
            appliers.push(applier.clone());
            applier
        });
        let (objects, by) = (vec![built.object.clone()].into(), by.clone());
        let mut completion = built.completion.clone();
        completion.open = !built.is_final;
        applied_sets.push(AppliedSet {
            by,
            objects,
            completion: Arc::new(completion),
            inventory: None,
            facts: None,
            undefined: Arc::default(),
            lacks_changes: Arc::new(if built.lacks_changes { BTreeSet::from([0]) } else { BTreeSet::new() }),
        });
    }
    (appliers, applied_sets)
}
