//! Patches that no kustomization lists.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use super::finding::{MAX_SHOWN, parts, place_of};
use super::kinds::{OF_TOOLS, is_fluxs};
use crate::base::finding::{Finding, Label};
use crate::kube::{Object, groups};
use crate::lint::facts::distinct::{WrittenPosition, written_position};
use crate::lint::facts::reached::ReachedFiles;
use crate::lint::fleet::Fleet;
use crate::text::{Index, folder_of};

/// The annotation that sets how Flux applies an object.
const SSA: &str = "kustomize.toolkit.fluxcd.io/ssa";

/// The names of directories with the patches of the kustomization of the directory above.
const DIRECTORIES: [&str; 2] = ["patch", "patches"];

/// The objects in the directories `patches` beside the kustomization files of reached directories, if no kustomization
/// lists their files and a cluster receives an object with the same name.
pub(super) fn forgotten<'a>(fleet: &Fleet<'a>, reached: &ReachedFiles<'a>) -> Vec<&'a Object> {
    let Some(written) = fleet.views.first().map(|view| &view.written) else { return Vec::new() };
    let mut known: Index<(Option<&str>, &str), bool> = Index::default();
    let is_of_patches = |root: Option<&'a str>, folder: &'a str| {
        let above = folder_of(folder);
        is_for_patches(folder)
            && reached.reaches_folder(root, above)
            && written.kustomization_in(above).is_some()
            && written.kustomization_in(folder).is_none()
    };
    let names = LazyCell::new(|| received_names(fleet));
    let built = fleet.repo.objects.iter().map(|built| &built.object);
    let objects = fleet.repo.aside.iter().chain(built).filter(|object| {
        let (root, path, _) = written_position(object);
        let folder = folder_of(path);
        !is_fluxs(object)
            && !OF_TOOLS.contains(&object.group())
            && *known.entry_or((root, folder), || is_of_patches(root, folder))
            && names.contains(&name_of(object))
    });
    objects.collect()
}

/// Returns whether a directory contains patches, according to its name.
pub(super) fn is_for_patches(folder: &str) -> bool {
    folder.rsplit('/').next().is_some_and(|name| DIRECTORIES.contains(&name))
}

/// The group, kind and name of an object.
type ObjectName<'a> = (&'a str, &'a str, &'a str);

fn name_of(object: &Object) -> ObjectName<'_> {
    (object.group(), object.kind(), object.name())
}

/// The names of the objects that the clusters receive.
fn received_names<'a>(fleet: &Fleet<'a>) -> BTreeSet<ObjectName<'a>> {
    let sets = fleet.repo.clusters.iter().flat_map(|cluster| &cluster.applied_sets);
    sets.flat_map(|set| set.objects.iter()).map(name_of).collect()
}

/// The objects that patches change.
pub(super) struct Patched<'a> {
    received: BTreeSet<ObjectName<'a>>,
    /// The files that define the objects that no cluster reaches.
    unreached: BTreeMap<ObjectName<'a>, Vec<&'a str>>,
}

impl<'a> Patched<'a> {
    pub(super) fn of(fleet: &Fleet<'a>, reached: &ReachedFiles<'a>) -> Self {
        let mut received = received_names(fleet);
        let mut unreached: BTreeMap<ObjectName<'a>, Vec<&str>> = BTreeMap::new();
        let written = fleet.repo.objects.iter().map(|built| &built.object).chain(&fleet.repo.aside);
        for object in written.filter(|object| !is_patch(object)) {
            let (root, path, _) = written_position(object);
            if reached.may_reach(object) {
                // An overlay may change the name, but a patch uses the original one.
                received.insert(name_of(object));
            } else if root.is_none() {
                unreached.entry(name_of(object)).or_default().push(path);
            }
        }
        Self { received, unreached }
    }

    /// The findings for the patches of one directory that no kustomization lists.
    ///
    /// `is_explained` returns whether a file is switched off or reported. A patch of an object in such a file belongs to that
    /// object.
    pub(super) fn unused_patches(
        &self,
        rule: &'static str,
        patches: Vec<&Object>,
        is_explained: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = Finding> {
        let is_of_other = |patch: &&Object| {
            let own = written_position(patch).1;
            self.files(patch).iter().any(|path| *path != own && is_explained(path))
        };
        let patches = patches.into_iter().filter(|patch| !is_of_other(patch));
        let (received, others): (Vec<&Object>, Vec<&Object>) = patches.partition(|patch| self.is_received(patch));
        let of_received = unused_patches(rule, &received, LIST_PATCH);
        of_received.into_iter().chain(unused_patches(rule, &others, LIST_OBJECT))
    }

    /// Returns whether a cluster receives the object of a patch. Without that object, the patch fails a build.
    fn is_received(&self, patch: &Object) -> bool {
        self.received.contains(&name_of(patch))
    }

    /// The files that define the object of a patch, if no cluster receives it.
    fn files<'s>(&'s self, patch: &'s Object) -> &'s [&'s str] {
        if self.is_received(patch) {
            return &[];
        }
        self.unreached.get(&name_of(patch)).map_or(&[], Vec::as_slice)
    }
}

/// The positions of the Flux objects that a kustomization lists below `resources`, so that they are not patches.
pub(super) fn listed_objects<'a>(fleet: &Fleet<'a>) -> Index<WrittenPosition<'a>, ()> {
    let has_kustomization = |folder: &str| {
        let written = fleet.views.first().map(|view| &view.written);
        written.is_some_and(|written| written.kustomization_in(folder).is_some())
    };
    let listed = fleet.repo.objects.iter().filter(|built| is_fluxs(&built.object) && has_kustomization(&built.folder));
    listed.map(|built| (written_position(&built.object), ())).collect()
}

/// The directory, kind and name of an object.
pub(super) type Variant<'a> = (&'a str, &'a str, &'a str);

pub(super) fn variant_of(object: &Object) -> Variant<'_> {
    (folder_of(written_position(object).1), object.kind(), object.name())
}

/// The objects that several files of one directory define, such as a file for each cluster, if kustomizations list these
/// files below `resources`.
pub(super) fn variants<'a>(fleet: &Fleet<'a>, listed: &Index<WrittenPosition<'a>, ()>) -> BTreeSet<Variant<'a>> {
    let mut files: BTreeMap<Variant<'a>, BTreeSet<&str>> = BTreeMap::new();
    let objects = fleet.repo.objects.iter().map(|built| &built.object);
    for object in objects.filter(|object| listed.contains(&written_position(object))) {
        files.entry(variant_of(object)).or_default().insert(written_position(object).1);
    }
    files.into_iter().filter(|(_, files)| files.len() > 1).map(|(variant, _)| variant).collect()
}

/// Returns whether an object is a patch.
///
/// A patch lacks a field that the API server requires, or its file or directory has the word `patch` in its name.
pub(super) fn is_patch(object: &Object) -> bool {
    // Flux merges such an object into one that exists on the cluster, so kustomizations list it below `resources`.
    if object.annotation("kustomize.toolkit.fluxcd.io/ssa").is_some_and(|mode| mode.eq_ignore_ascii_case("merge")) {
        return false;
    }
    let lacks = |fields: &[&str]| fields.iter().any(|field| object.node.at_keys(&["spec", field]).is_none());
    let is_incomplete = match (object.group(), object.kind()) {
        (groups::KUSTOMIZE, "Kustomization") => lacks(&["interval", "prune", "sourceRef"]),
        (groups::HELM, "HelmRelease") => lacks(&["interval"]) || (lacks(&["chart"]) && lacks(&["chartRef"])),
        _ => false,
    };
    let path = object.node.origin.written().file().path();
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    // Flux merges such an object into an object that another program created.
    let is_part = object.is_marked(SSA, "Merge");
    let is_named_patch = words.any(|word| word.eq_ignore_ascii_case("patch")) || is_for_patches(folder_of(path));
    is_incomplete || (!is_part && is_named_patch)
}

/// The help for patches whose objects a cluster receives.
const LIST_PATCH: &str = "list the patch below `patches` of a kustomization.yaml that a cluster reaches, or \
                                     remove the file: as a resource, the patch is incomplete or a duplicate";

/// The help for patches whose objects no cluster receives.
const LIST_OBJECT: &str = "remove the file, or list the object below `resources` and the patch below \
                                      `patches` of a kustomization.yaml that a cluster reaches: no cluster receives \
                                      the object, and a patch without its object fails the build";

/// Returns the finding for the patches of one directory that no kustomization lists.
fn unused_patches(rule: &'static str, patches: &[&Object], help: &'static str) -> Option<Finding> {
    let (first, rest) = patches.split_first()?;
    let others = match rest.len() {
        0 => String::new(),
        1 => " and another patch in this directory".to_owned(),
        more => format!(" and {more} other patches in this directory"),
    };
    let message =
        format!("no kustomization uses patch `{}` of {}{others}", place_of(first).file().path(), first.reference());
    let finding =
        Finding::warning(rule, Label::new(place_of(first), "not used"), message).help(help).about(first.reference());
    // An author who leaves out one patch often leaves out others.
    let finding = finding.caused_by(help, "no kustomization uses the patches in ", " directories").keeping_related();
    let finding = finding.with_parts(parts(patches));
    let shown = rest.iter().take(MAX_SHOWN);
    Some(shown.fold(finding, |finding, object| finding.related(place_of(object), object.reference().to_string())))
}
