//! The replacement of API versions: the edits that are safe, and the fields that prevent them.

use std::collections::{BTreeMap, BTreeSet};

use super::rename::rename;
use crate::api::catalog::{Lookup, Origin, Product, Releases, built_in};
use crate::api::release::{Status, replacement_for};
use crate::api::validate::{Mismatch, validate};
use crate::base::finding::Finding;
use crate::cel::Budget;
use crate::kube::Object;
use crate::lint::api_uses::{Role, uses_of};
use crate::lint::fleet::Fleet;
use crate::lint::view::View;
use crate::text::{Edit, Span};

/// The id of a field that does not exist in the replacement of a version.
const REMOVED_FIELD: &str = "removed-field";

/// A place: its path and the start of its text.
type Place = (String, usize);

/// The edits that replace removed and deprecated API versions.
#[derive(Default)]
pub(super) struct Replacements {
    /// The findings about objects that need another change.
    pub(super) findings: Vec<Finding>,
    /// The edits by place; none if the edit is not safe for every cluster.
    edits: BTreeMap<Place, (&'static str, Option<Edit>)>,
    /// The versions that an object without an edit has, by their text.
    kept: BTreeSet<(String, String)>,
}

impl Replacements {
    /// Finds the replacements on the clusters, which have their later releases.
    ///
    /// `present` has the present releases of the clusters by name.
    pub(super) fn of(fleet: &Fleet<'_>, present: &[(String, Releases)]) -> Self {
        let mut all = Self::default();
        for view in fleet.views {
            let name = view.receiver.to_string();
            let now = present.iter().find(|(known, _)| *known == name).map(|(_, now)| now.clone()).unwrap_or_default();
            for object in view.objects().map(|applied| applied.object) {
                all.object(view, &now, object);
            }
        }
        let releases: Vec<_> = fleet.views.iter().map(View::releases).collect();
        for (one, views) in fleet.api_uses().uses {
            if one.role == Role::Object {
                continue;
            }
            let mut texts =
                views.iter().filter_map(|view| releases.get(*view)).map(|releases| match one.api.status(releases) {
                    Status::Removed(_) | Status::Deprecated(_) => replacement_for(one.api, releases),
                    Status::Served | Status::Unknown => None,
                });
            let first = texts.next().flatten();
            let is_same = texts.all(|other| other == first);
            let new = first.filter(|(_, kind)| is_same && *kind == one.api.kind).map(|(version, _)| version);
            let is_kept = all.kept.contains(&(one.api.api_version(), one.api.kind.clone()));
            let edit = new.filter(|_| !is_kept).and_then(|new| one.edit(&new));
            all.add(&one.at, edit.as_ref());
        }
        all
    }

    /// The edits of files of the repository that `is_editable` accepts.
    pub(super) fn edits(self) -> Vec<Edit> {
        self.edits.into_values().filter_map(|(_, edit)| edit).collect()
    }

    fn add(&mut self, at: &Span, edit: Option<&Edit>) {
        let known = self.edits.entry((at.file().path().to_owned(), at.range().start));
        let (_, known) = known.or_insert_with(|| ("", edit.cloned()));
        // Clusters that share a file may need different texts.
        if known.as_ref() != edit {
            *known = None;
        }
    }

    fn object(&mut self, view: &View<'_>, now: &Releases, object: &Object) {
        let Some(one) = uses_of(object).into_iter().find(|one| one.role == Role::Object) else { return };
        let releases = view.releases();
        let (since, is_removed) = match one.api.status(&releases) {
            Status::Removed(since) => (since, true),
            Status::Deprecated(since) => (since, false),
            Status::Served | Status::Unknown => {
                self.add(&one.at, None);
                return;
            }
        };
        // A removed version breaks the cluster after the move, even if it does so now.
        let is_new = is_removed || matches!(one.api.status(now), Status::Served | Status::Unknown);
        let replacement = replacement_for(one.api, &releases).filter(|(_, kind)| *kind == one.api.kind);
        let mut is_safe = false;
        if let Some((new, _)) = &replacement {
            let (group, version) = new.split_once('/').unwrap_or(("", new));
            if let Lookup::Found(found) = view.catalog().find(group, version, object.kind()) {
                let is_typed = matches!(&found.origin, Origin::BuiltIn(own) if own.product == Product::Kubernetes);
                let mut mismatches = validate(object, &found.schema, found.scope, is_typed, Budget::of_request(1));
                // A fault of the present version is not a change.
                let own = object.api_version().rsplit('/').next().unwrap_or_default();
                if let Some(present) = built_in(group, own, object.kind(), now).filter(|_| !mismatches.is_empty()) {
                    let present = validate(object, &present.schema, present.scope, is_typed, Budget::of_request(1));
                    let is_known = |mismatch: &Mismatch| {
                        present.iter().any(|own| own.path == mismatch.path && own.message == mismatch.message)
                    };
                    mismatches.retain(|mismatch| !is_known(mismatch));
                }
                let renames: Option<Vec<_>> = mismatches.iter().map(|mismatch| rename(object, mismatch)).collect();
                is_safe = renames.is_some();
                for edit in renames.into_iter().flatten().flatten() {
                    self.add(&edit.span, Some(&edit));
                }
                for mismatch in mismatches.into_iter().filter(|_| is_new) {
                    let message =
                        format!("{}: `{}` {} in `{new}`", object.reference(), mismatch.path, mismatch.message);
                    let why = format!(
                        "`{}` is {} since {} {}.{}",
                        one.api.api_version(),
                        if is_removed { "removed" } else { "deprecated" },
                        one.api.product().name(),
                        since.major,
                        since.minor
                    );
                    let help = mismatch.help.map_or_else(|| why.clone(), |help| format!("{help}; {why}"));
                    let finding = if is_removed { Finding::error } else { Finding::warning };
                    let mut finding = finding(REMOVED_FIELD, mismatch.at, message).help(help).about(object.reference());
                    finding.clusters.extend(view.is_whole().then(|| view.receiver.to_string().into()));
                    self.findings.push(finding);
                }
            }
        }
        let new = replacement.filter(|_| is_safe).and_then(|(new, _)| one.edit(&new));
        if new.is_none() {
            self.kept.insert((one.api.api_version(), one.api.kind.clone()));
        }
        self.add(&one.at, new.as_ref());
    }
}
