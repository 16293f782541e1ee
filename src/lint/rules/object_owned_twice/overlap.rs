//! Kustomizations with nested directories, which apply the same files.

use std::sync::Arc;

use super::wording::{MAX_SHOWN, WITH_DIFFERENCE, safe_removal};
use crate::base::finding::{Finding, Label, ObjectRef, Severity};
use crate::flux::{Applied, Applier};
use crate::lint::facts::difference::difference;
use crate::lint::facts::distinct::written_position;
use crate::lint::facts::ownership_settings::prunes;
use crate::lint::view::View;
use crate::text::is_inside;

/// Owners of an object that apply it from the same file. The directory of one owner contains the other directories.
///
/// The Kustomizations may change the object, and may use two sources with the same content.
pub(super) struct Nested<'a> {
    /// The owner with the outermost directory.
    pub(super) outer: Applied<'a>,
    /// The owner with the innermost directory.
    inner: Applied<'a>,
}

impl<'a> Nested<'a> {
    pub(super) fn of(owners: &[Applied<'a>]) -> Option<Self> {
        let outer = owners.iter().min_by_key(|owner| owner.by.folder.len())?;
        let inner = owners.iter().max_by_key(|owner| owner.by.folder.len())?;
        // A generated artifact contains copies of files in other directories, so the paths do not compare.
        let is_generated = |source: &ObjectRef| *source.kind == *"ExternalArtifact";
        let is_comparable = |owner: &Applied<'a>| {
            owner.by.source == outer.by.source
                || ![owner, outer].iter().any(|one| one.by.source.as_ref().is_some_and(is_generated))
        };
        let is_nested = |owner: &Applied<'a>| {
            written_position(owner.object) == written_position(outer.object)
                && owner.by.source.is_some()
                && is_comparable(owner)
                && is_inside(&owner.by.folder, &outer.by.folder)
        };
        (outer.by.at != inner.by.at && owners.iter().all(is_nested)).then_some(Self { outer: *outer, inner: *inner })
    }

    /// Returns whether the file is in the inner directory.
    ///
    /// A component or base of both owners may be elsewhere, and an artifact may start at a directory of the repository.
    pub(super) fn is_of_inner_folder(&self) -> bool {
        let (_, path, _) = written_position(self.inner.object);
        let folder = &self.inner.by.folder;
        folder.is_empty() || format!("/{path}").contains(&format!("/{folder}/"))
    }

    /// The positions of the two appliers in the cluster.
    pub(super) fn appliers(&self) -> (usize, usize) {
        (self.outer.by.at, self.inner.by.at)
    }

    /// Returns whether one Kustomization is a copy of the other, which applies its own file.
    fn is_of_copy(&self) -> bool {
        let position = |applied: &Applied<'a>| {
            Some(written_position(applied.by.object.as_ref()?))
                .map(|(root, path, at)| (root.map(str::to_owned), path.to_owned(), at))
        };
        self.outer.by.reference != self.inner.by.reference && position(&self.outer) == position(&self.inner)
    }

    /// Returns whether the object is the inner Kustomization, which therefore applies itself.
    fn is_of_itself(&self) -> bool {
        self.inner.object.reference() == self.inner.by.reference
    }

    fn differs(&self) -> bool {
        difference(self.outer.object, self.inner.object).is_some_and(|found| found.has_effect)
    }
}

/// Returns the finding for a Kustomization with a directory that contains the directories of other Kustomizations.
pub(super) fn overlap(rule: &'static str, view: &View<'_>, pairs: &[Nested<'_>]) -> Option<Finding> {
    let outer = &pairs.first()?.outer;
    let path = |applied: &Applied<'_>| {
        let object = applied.by.object.as_ref()?;
        let node = object.node.at_keys(&["spec", "path"]).unwrap_or(&object.node);
        let place = |by: &Arc<Applier>| by.place(node.span());
        Some(applied.by.parent_applier.as_ref().map_or_else(|| node.span().clone(), place))
    };
    let folder =
        |applied: &Applied<'_>| if applied.by.folder.is_empty() { ".".into() } else { applied.by.folder.clone() };
    let mut inner: Vec<&Applied<'_>> = pairs.iter().map(|nested| &nested.inner).collect();
    inner.sort_by_key(|applied| applied.by.at);
    inner.dedup_by_key(|applied| applied.by.at);
    let (first, rest) = inner.split_first()?;
    let count = if pairs.len() == 1 { "one object".to_string() } else { format!("{} objects", pairs.len()) };
    let (contains, inside) = (folder(outer), folder(first));
    let whose = format!("{}, `{inside}`", first.by.reference);
    let apply_themselves = pairs.iter().all(Nested::is_of_itself);
    let applies_itself = rest.is_empty() && apply_themselves;
    let is_copy = rest.is_empty() && contains == inside && pairs.iter().any(Nested::is_of_copy);
    let message = match rest.len() {
        0 if is_copy => format!(
            "{} and {} are copies of one Kustomization, since its path `{contains}` contains its own file, and both apply \
             {count}",
            outer.by.reference, first.by.reference
        ),
        0 if applies_itself => format!(
            "{} applies itself, since its path `{inside}` contains its own file, and {} applies it too",
            first.by.reference, outer.by.reference
        ),
        0 if contains == inside => format!(
            "{} and {} have the same path `{contains}`, so both apply {count}",
            outer.by.reference, first.by.reference
        ),
        0 => format!(
            "the path of {} is `{contains}`, which contains the path of {whose}, so both apply {count}",
            outer.by.reference
        ),
        more if apply_themselves => format!(
            "{} and {} apply themselves, since their paths contain their own files, and {} applies them too",
            first.by.reference,
            if more == 1 { "another Kustomization".to_owned() } else { format!("{more} other Kustomizations") },
            outer.by.reference
        ),
        more => format!(
            "the path of {} is `{contains}`, which contains the path of {whose}, and {}, so {count} are applied twice",
            outer.by.reference,
            if more == 1 {
                "the path of another Kustomization".to_string()
            } else {
                format!("the paths of {more} other Kustomizations")
            }
        ),
    };
    let differ = pairs.iter().filter(|nested| nested.differs()).count();
    let message = match differ {
        0 => message,
        all if all == pairs.len() => format!("{message}{WITH_DIFFERENCE}"),
        some => format!("{message}, {some} of them with different content"),
    };
    let of_directories = one_owner_for_each(view, outer, (&contains, &inside));
    let what = if applies_itself {
        "move the file of the Kustomization out of the directory that it applies, set its `path` to a directory that does \
         not contain the file, or list the other files of the directory in a kustomization.yaml"
    } else if apply_themselves {
        "move the file of each Kustomization out of the directory that it applies, or set its `path` to a directory that \
         does not contain the file"
    } else if is_copy {
        "set `path` to a directory that does not contain the file of the Kustomization, or move the file"
    } else if rest.is_empty() && contains == inside {
        "remove one of the two Kustomizations"
    } else {
        of_directories.as_str()
    };
    let now = if differ == 0 { "" } else { "; until then, each reverts the changes of the other at every interval" };
    let owners: Vec<Applied<'_>> = pairs.iter().flat_map(|nested| [nested.outer, nested.inner]).collect();
    let safe = if owners.iter().any(|owner| prunes(owner.by)) {
        format!(": {}", safe_removal(&owners, "the objects"))
    } else {
        String::new()
    };
    let help = format!("{what}{safe}{now}");
    let label = Label::new(path(outer)?, format!("applies `{contains}`"));
    let mut finding = Finding::error(rule, label, message).help(help).about(outer.by.reference.clone());
    if differ == 0 {
        finding.severity = Severity::Warning;
    }
    for applied in inner.iter().take(MAX_SHOWN) {
        if let Some(other) = path(applied) {
            finding = finding.related(other, format!("applies `{}`", folder(applied)));
        }
    }
    for Nested { inner: applied, .. } in pairs.iter().take(MAX_SHOWN) {
        finding = finding.related(applied.by.place(applied.object.span()), applied.object.reference().to_string());
    }
    Some(finding)
}

/// The instruction to apply each of two nested directories with one Kustomization.
fn one_owner_for_each(view: &View<'_>, outer: &Applied<'_>, (contains, inside): (&str, &str)) -> String {
    match view.written.kustomization_in(&outer.by.folder) {
        // Flux lists all directories if no file does.
        None => "apply each directory with one Kustomization: list the directories of the outer Kustomization in a \
                 kustomization.yaml, or remove the inner Kustomization"
            .to_owned(),
        Some(name) => format!(
            "apply each directory with one Kustomization: remove `{inside}` from the resources of `{contains}/{name}`, or \
             remove the inner Kustomization"
        ),
    }
}
