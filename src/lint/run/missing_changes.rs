//! Findings in objects that lack the changes of a patch, component or transformer that failed.

use std::collections::{BTreeMap, BTreeSet};

use arcstr::ArcStr;

use super::invalid_documents::RULES_OF_FILES;
use crate::base::finding::{Finding, ObjectRef};
use crate::flux::{Applier, Receiver};
use crate::lint::findings::Findings;

/// The objects of each cluster that may lack changes. Flux applies none of them, and the missing part may remove any
/// fault.
pub(super) struct MissingChanges {
    /// The objects of each cluster, with the applier whose build fails.
    by_cluster: BTreeMap<ArcStr, BTreeMap<ObjectRef, ObjectRef>>,
    /// The appliers of each cluster whose own objects do not lack changes, so that their failures are certain.
    appliers: BTreeMap<ArcStr, BTreeSet<ObjectRef>>,
}

impl MissingChanges {
    pub(super) fn of(receivers: &[&Receiver<'_>]) -> Self {
        let mut all = Self { by_cluster: BTreeMap::new(), appliers: BTreeMap::new() };
        for receiver in receivers {
            let mut objects: BTreeMap<ObjectRef, ObjectRef> = BTreeMap::new();
            for set in receiver.applied_sets() {
                objects.extend(set.without_changes().map(|lacking| (lacking.object.reference(), failing(&set.by))));
            }
            if objects.is_empty() {
                continue;
            }
            // Another applier applies the same object with all changes.
            for set in receiver.applied_sets() {
                let complete = set.objects.iter().enumerate().filter(|(at, _)| !set.lacks_changes.contains(at));
                complete.for_each(|(_, object)| drop(objects.remove(&object.reference())));
            }
            let cluster = receiver.cluster;
            let certain = cluster.appliers.iter().filter(|applier| !applier.lacks_changes);
            let certain: BTreeSet<ObjectRef> = certain.map(|applier| applier.reference.clone()).collect();
            for name in [receiver.to_string().into(), cluster.name.clone()] {
                all.by_cluster.entry(name.clone()).or_default().extend(objects.clone());
                all.appliers.entry(name).or_default().extend(certain.clone());
            }
        }
        all
    }

    /// Removes and counts the findings of rules in such objects.
    pub(super) fn remove(&self, found: &mut Findings) {
        self.remove_if(found, |_, _| true);
    }

    /// Removes and counts the findings of builds in such objects. The failure of an applier is certain although its own
    /// build contains its object.
    pub(super) fn remove_from_builds(&self, found: &mut Findings) {
        self.remove_if(found, |cluster, object| !self.appliers.get(cluster).is_some_and(|all| all.contains(object)));
    }

    fn remove_if(&self, found: &mut Findings, is_doubtful: impl Fn(&ArcStr, &ObjectRef) -> bool) {
        if self.by_cluster.is_empty() {
            return;
        }
        let (kept, removed): (Vec<Finding>, Vec<Finding>) =
            found.findings.drain(..).partition(|finding| self.failing(finding, &is_doubtful).is_none());
        found.findings = kept;
        for applier in removed.iter().filter_map(|finding| self.failing(finding, &is_doubtful)) {
            found.unchecked(format!("objects that lack changes, since the build of {applier} fails"));
        }
    }

    /// The applier because of which the object of a finding lacks changes on all clusters of the finding.
    fn failing(&self, finding: &Finding, is_doubtful: impl Fn(&ArcStr, &ObjectRef) -> bool) -> Option<&ObjectRef> {
        let object = finding.object.as_ref().filter(|_| !RULES_OF_FILES.contains(&finding.rule))?;
        let on = |cluster: &ArcStr| {
            let applier = self.by_cluster.get(cluster).and_then(|objects| objects.get(object));
            applier.filter(|_| is_doubtful(cluster, object))
        };
        let mut clusters = finding.clusters.iter();
        match clusters.next() {
            Some(first) => on(first).filter(|_| clusters.all(|cluster| on(cluster).is_some())),
            // The finding is about a repository without clusters.
            None => on(&ArcStr::new()),
        }
    }
}

/// The applier whose build fails: the applier of a set, or an applier above it.
fn failing(applier: &Applier) -> ObjectRef {
    let above = std::iter::successors(Some(applier), |applier| applier.parent_applier.as_deref());
    let mut above = above.skip_while(|applier| applier.lacks_changes);
    above.next().unwrap_or(applier).reference.clone()
}
