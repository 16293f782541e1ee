//! The appliers of a cluster that fail, and the objects that the cluster does not receive because of them.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::own_inputs::is_input;
use crate::base::finding::{Follows, ObjectRef};
use crate::base::similar_names::is_almost;
use crate::flux::{Applier, NotBuiltReason, State};
use crate::kube::ObjectId;
use crate::lint::facts::distinct::written_position;
use crate::lint::view::View;
use crate::text::{folder_of, is_inside};

/// The maximum number of directories that a cluster does not apply because an applier fails.
const MAX_FAILED: usize = 100;

/// The rules that report that an applier fails.
const FAILURES: &[&str] = &[
    "missing-path",
    "failed-build",
    "missing-resource",
    "dangling-source",
    "invalid-yaml",
    "duplicate-key",
    "default-namespace",
    "undefined-variable",
    "shell-variable-substituted",
];

/// The appliers of a cluster that fail.
pub(crate) struct FailedAppliers<'v, 'a> {
    view: &'v View<'a>,
    /// The directories that the cluster does not apply because an applier fails, each with this applier.
    folders: OnceCell<Vec<(String, &'a Applier)>>,
}

impl<'v, 'a> FailedAppliers<'v, 'a> {
    pub(crate) fn of(view: &'v View<'a>) -> Self {
        Self { view, folders: OnceCell::new() }
    }

    /// The failure because of which the cluster does not receive an object.
    pub(crate) fn failure(&self, wanted: ObjectId<'_>) -> Option<Follows> {
        self.applier_of(wanted).map(follows_from)
    }

    /// Returns the applier that would apply an object, but fails: its build, its source or an applier above it fails.
    pub(super) fn applier_of(&self, wanted: ObjectId<'_>) -> Option<&'a ObjectRef> {
        let failed = self.folders.get_or_init(|| self.failed_folders());
        if failed.is_empty() {
            return None;
        }
        let object = self.view.written.find(wanted)?;
        let folder = folder_of(written_position(object).1);
        let inside = failed.iter().find(|(path, _)| is_inside(folder, path)).map(|(_, applier)| *applier);
        let applier = inside.or_else(|| self.applier_of_wrong_path(folder))?;
        (!is_input(self.view, applier, wanted)).then_some(&applier.reference)
    }

    /// Returns the failed applier of a directory that does not exist, if its path probably means a directory.
    fn applier_of_wrong_path(&self, folder: &str) -> Option<&'a Applier> {
        let failed = self.folders.get_or_init(|| self.failed_folders());
        let last = |path: &str| path.rsplit('/').next().map(str::to_owned);
        let is_meant = |path: &str| {
            let above = std::iter::successors(Some(folder), |folder| Some(folder_of(folder)));
            let mut above = above.take_while(|folder| !folder.is_empty());
            above.any(|above| is_almost(path, above) || last(path) == last(above))
        };
        // The applier of the bootstrap has no directory.
        let mut built = self.view.appliers().filter(|one| one.state == State::Built && !one.folder.is_empty());
        let mut is_applied = || built.any(|one| is_inside(folder, &one.folder));
        let mut wrong = failed.iter().filter(|(path, _)| !self.view.written.has_folder(path));
        wrong.find(|(path, _)| is_meant(path) && !is_applied()).map(|(_, applier)| *applier)
    }

    fn failed_folders(&self) -> Vec<(String, &'a Applier)> {
        let lacks_source = |state: &State| matches!(state, State::NotBuilt(NotBuiltReason::MissingSource(_)));
        let fails = |state: &State| *state == State::Failed || lacks_source(state);
        let appliers = || self.view.receiver.cluster.appliers.iter();
        let failed = appliers().filter(|applier| !applier.folder.is_empty() && fails(&applier.state));
        let mut failed: Vec<(String, &'a Applier)> =
            failed.map(|applier| (applier.folder.clone(), &**applier)).collect();
        let applied: BTreeSet<&str> = appliers().map(|applier| &*applier.folder).collect();
        // The Kustomizations in the directory of a failed applier do not exist either.
        let mut at = 0;
        while let Some((folder, applier)) = failed.get(at).filter(|_| at < MAX_FAILED).cloned() {
            let below = self.view.written.kustomizations_in(|path| is_inside(path, &folder));
            let below: Vec<String> = below.map(|(_, path)| path).collect();
            for path in below {
                let is_known = failed.iter().any(|(known, _)| *known == path);
                if !path.is_empty() && !is_known && !applied.contains(&*path) {
                    failed.push((path, applier));
                }
            }
            at += 1;
        }
        failed
    }
}

/// The failure of an applier, from which other findings follow.
pub(super) fn follows_from(applier: &ObjectRef) -> Follows {
    Follows { rules: FAILURES, object: applier.clone(), stands_alone: false }
}
