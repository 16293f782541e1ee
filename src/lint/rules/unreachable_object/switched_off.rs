//! The files and directories that the author switched off in a comment.

use std::collections::{BTreeMap, BTreeSet};

use crate::flux::is_kustomization;
use crate::lint::facts::distinct::written_position;
use crate::lint::facts::paths::prefixes;
use crate::lint::facts::reached::ReachedFiles;
use crate::lint::fleet::Fleet;
use crate::text::normalize;

/// The paths in comments of kustomizations, and the directories that the Kustomizations in these files apply.
pub(super) struct SwitchedOff<'a> {
    named: &'a BTreeSet<String>,
    applied: BTreeSet<String>,
}

impl<'a> SwitchedOff<'a> {
    pub(super) fn of(fleet: &Fleet<'a>, reached: &ReachedFiles<'a>, applied: &BTreeSet<&str>) -> Self {
        let named = &fleet.repo.parked;
        let objects = fleet.repo.objects.iter().map(|built| &built.object).chain(&fleet.repo.aside);
        // The paths of the Kustomizations in each file, and below each directory.
        let mut inside: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for object in objects.filter(|object| is_kustomization(object) && !reached.may_reach(object)) {
            let Some(leads) = object.text_at(&["spec", "path"]).and_then(normalize) else { continue };
            // A cluster may reach the directory through another Kustomization.
            if !leads.is_empty() && !applied.contains(&*leads) {
                let above = prefixes(written_position(object).1);
                above.for_each(|path| inside.entry(path).or_default().push(leads.clone()));
            }
        }
        let mut open: Vec<String> = named.iter().filter_map(|path| inside.remove(&**path)).flatten().collect();
        let mut of_kustomizations = BTreeSet::new();
        // A directory that is switched off may contain further Kustomizations.
        while let Some(folder) = open.pop() {
            open.extend(inside.remove(&*folder).unwrap_or_default());
            of_kustomizations.insert(folder);
        }
        Self { named, applied: of_kustomizations }
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        prefixes(path).any(|above| self.named.contains(above) || self.applied.contains(above))
    }
}
