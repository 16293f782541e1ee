//! Directories that no build includes, although clusters reach the directories beside them.

use std::collections::BTreeMap;

use super::kinds::{OF_TOOLS, is_fluxs};
use crate::flux::Repo;
use crate::kube::{Object, is_encrypted_value};

use crate::lint::facts::distinct::written_position;
use crate::lint::facts::reached::ReachedFiles;
use crate::lint::fleet::Fleet;
use crate::text::{Index, folder_of, is_inside, join};

/// The objects of a directory by path and offset.
type ByPosition<'a> = BTreeMap<(&'a str, usize), &'a Object>;

/// The objects of each directory that no build includes, by the directory of the kustomization that would build them.
/// A directory with Flux objects that are not in directories below it is not among them, since the rule reports these objects.
///
/// `is_excused` returns whether a directory, or the kustomization file in it, is excused.
pub(super) fn missed_directories<'a>(
    fleet: &Fleet<'a>,
    reached: &ReachedFiles<'a>,
    is_excused: impl Fn(&str, &str) -> bool,
) -> BTreeMap<&'a str, ByPosition<'a>> {
    let mut found: BTreeMap<&'a str, ByPosition<'a>> = BTreeMap::new();
    let Some(written) = fleet.views.first().map(|view| &view.written) else { return found };
    let repo: &'a Repo = fleet.repo;
    let mut known: Index<&str, bool> = Index::default();
    let is_missed = |folder: &str| {
        let is_beside = reached.nearest(folder).is_some_and(|nearest| nearest == folder_of(folder));
        // `flux bootstrap` writes its directory, and users apply it.
        if !is_beside || repo.flux_folders.contains(folder) {
            return false;
        }
        let file = written.kustomization_in(folder).and_then(|name| join(folder, name));
        file.is_some_and(|file| !is_excused(folder, &file))
    };
    for built in &repo.objects {
        let folder: &'a str = &built.folder;
        if !*known.entry_or(folder, || is_missed(folder)) {
            continue;
        }
        let (root, path, offset) = written_position(&built.object);
        if root.is_none() && !OF_TOOLS.contains(&built.object.group()) && !reached.may_reach(&built.object) {
            found.entry(folder).or_default().insert((path, offset), &built.object);
        }
    }
    let programs = repo.other_programs.of_cluster("");
    found.retain(|folder, objects| {
        !objects.iter().any(|((path, _), object)| {
            (is_fluxs(object) && !is_below(folder_of(path), folder))
                || object.group() == "argoproj.io"
                || has_placeholder(object)
                // Builds omit objects without a known kind.
                || is_encrypted_value(object.kind())
                || programs.names_file(path, object.name())
        })
    });
    found
}

/// Returns whether a directory is below another directory.
fn is_below(folder: &str, above: &str) -> bool {
    folder != above && is_inside(folder, above)
}

/// Returns whether users or programs copy the file of an object, and replace a part of its identity.
fn has_placeholder(object: &Object) -> bool {
    let texts = [object.name(), object.namespace().unwrap_or_default()];
    texts.iter().any(|text| !is_encrypted_value(text) && text.contains(['$', '<', '{']))
}
