//! Trees that a cluster no longer syncs: the root of the cluster already syncs another repository, into which the files
//! were moved.

use super::coverage::{Coverage, WrittenSync, source_of};
use super::repository::{address, repository};
use super::root::{Root, synced_source};
use crate::address::Address;
use crate::config::DeclaredRoot;
use crate::flux::install::kustomizations::is_kustomization_name;
use crate::flux::source::reference::SourceRef;
use crate::text::{Tree, folder_of, is_inside};

/// Marks the roots that sync a repository other than the tree. The tree is probably the former repository, so it is
/// not certain that a cluster applies its files. A root that the configuration declares or names is certain.
pub(super) fn mark_former(roots: &mut [Root], tree: &Tree, coverage: &Coverage<'_>, declared: &[DeclaredRoot]) {
    let synced: Vec<Option<String>> = roots.iter().map(|root| address(&root.objects)).collect();
    if synced.iter().all(Option::is_none) {
        return;
    }
    let (own, empty) = (module_repositories(tree), empty_syncs(tree, coverage));
    let is_declared = |root: &Root| declared.iter().any(|one| *one.cluster == *root.name);
    for (root, synced) in roots.iter_mut().zip(synced).filter(|(root, _)| !is_declared(root)) {
        let Some(synced) = synced else { continue };
        let is_elsewhere = own.iter().any(|own| is_sibling(own, &synced)) && !own.contains(&synced);
        root.evidence.is_assumed |= is_elsewhere || references_content(root, &empty);
    }
}

/// The repositories that the Go modules of a tree state as their own. The path of a module consists of the address of
/// its repository and its directory.
fn module_repositories(tree: &Tree) -> Vec<String> {
    let modules = tree.entries().map(|(path, _)| path).filter(|path| path.rsplit('/').next() == Some("go.mod"));
    let stated = modules.filter_map(|path| {
        let file = tree.file(path).ok()?;
        let module = file.text().lines().find_map(|line| line.trim().strip_prefix("module "))?.trim().trim_matches('"');
        let module = without_version(module);
        let folder = folder_of(path);
        let own = if folder.is_empty() { module } else { module.strip_suffix(folder)?.strip_suffix('/')? };
        (own.split('/').count() == 3).then(|| Address::new(own).key().to_ascii_lowercase())
    });
    stated.collect()
}

/// The path of a module without the suffix of its major version, such as `/v2`.
fn without_version(module: &str) -> &str {
    let Some((path, last)) = module.rsplit_once('/') else { return module };
    let is_version = last.strip_prefix('v').is_some_and(|number| number.parse::<u32>().is_ok());
    if is_version { path } else { module }
}

/// Returns whether two different repositories have the same owner. A fork has another owner, and its modules state the
/// original repository.
fn is_sibling(one: &str, other: &str) -> bool {
    one != other && one.rsplit_once('/').map(|(owner, _)| owner) == other.rsplit_once('/').map(|(owner, _)| owner)
}

/// The sources, with their repositories, from which a Kustomization applies a directory of the tree that contains only
/// this Kustomization.
fn empty_syncs<'a>(tree: &Tree, coverage: &'a Coverage<'_>) -> Vec<(SourceRef, &'a str)> {
    let is_empty = |sync: &&WrittenSync| {
        let is_sync = |path: &str| path == sync.file || is_kustomization_name(path);
        sync.target.as_deref().is_some_and(|folder| is_inside(&sync.file, folder) && tree.under(folder).all(is_sync))
    };
    let sources = coverage.syncs.iter().filter(is_empty).filter_map(|sync| source_of(&sync.object));
    sources.filter_map(|source| coverage.repository_of(&source).map(|name| (source, name))).collect()
}

/// Returns whether the tree references the content of its directories from another source with the repository of the
/// root: the repository of the root has the content, and the tree does not.
fn references_content(root: &Root, empty: &[(SourceRef, &str)]) -> bool {
    let (own, name) = (root.objects.last().and_then(synced_source), repository(&root.objects));
    empty.iter().any(|(source, of)| Some(source) != own.as_ref() && name.as_deref() == Some(*of))
}
