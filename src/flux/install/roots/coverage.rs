//! The Kustomizations as written, and the directories that they apply.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::candidate::{RootCandidate, prefix, prefixes};
use super::repository::repository;
use crate::base::set_aside::is_template;
use crate::flux::classify::objects;
use crate::flux::install::includers::Includers;
use crate::flux::object::kinds::{is_exported, is_kustomization, is_source};
use crate::flux::object::kustomization_path::{below, clamp};
use crate::flux::source::reference::SourceRef;
use crate::kube::{Object, groups};
use crate::kustomize::Files;
use crate::text::{Tree, folder_of, is_inside};
use crate::yaml::Parsed;

/// The field with the path of a Kustomization.
const PATH: &[&str] = &["spec", "path"];

/// A Kustomization as written.
pub(super) struct WrittenSync {
    pub(super) object: Object,
    /// The path of the file.
    pub(super) file: String,
    /// The directories whose builds contain the Kustomization: the directories of the outermost kustomizations that
    /// include it, or the directory of its file.
    pub(super) units: BTreeSet<String>,
    /// Whether no kustomization includes the Kustomization.
    pub(super) is_loose: bool,
    /// The directory that the Kustomization applies, if it is a part of a source.
    pub(super) target: Option<String>,
    /// Whether the source is another repository, although this tree has a directory with the same path.
    pub(super) is_of_other: bool,
}

/// The directories that Flux applies because a Kustomization or a root references them.
pub(super) struct Coverage<'a> {
    pub(super) syncs: Vec<WrittenSync>,
    /// The Kustomizations that apply each directory, by their index in `syncs`.
    by_target: BTreeMap<String, Vec<usize>>,
    /// The directories whose builds contain Kustomizations.
    units: BTreeSet<String>,
    /// The directories that roots sync.
    synced: BTreeSet<String>,
    /// The repositories of the sources that the tree defines.
    repositories: BTreeMap<SourceRef, String>,
    /// The repositories whose Kustomizations apply several directories of the tree.
    of_tree: BTreeSet<String>,
    includers: &'a Includers,
}

impl<'a> Coverage<'a> {
    pub(super) fn new(files: &Files, includers: &'a Includers) -> Self {
        let tree = files.tree();
        let mut coverage = Self {
            syncs: Vec::new(),
            by_target: BTreeMap::new(),
            units: BTreeSet::new(),
            synced: BTreeSet::new(),
            repositories: BTreeMap::new(),
            of_tree: BTreeSet::new(),
            includers,
        };
        let files: Vec<(&str, &Arc<Parsed>)> = files.parsed().collect();
        let of_files = files.par_iter().map(|(path, parsed)| WrittenFlux::of(tree, includers, path, parsed));
        for WrittenFlux { repositories, syncs } in of_files.collect::<Vec<_>>() {
            coverage.repositories.extend(repositories);
            coverage.syncs.extend(syncs);
        }
        coverage.mark_hubs();
        coverage.mark_others_beside();
        coverage.mark_tenants();
        coverage.index();
        coverage
    }

    fn index(&mut self) {
        self.by_target.clear();
        self.units = self.syncs.iter().flat_map(|sync| &sync.units).cloned().collect();
        for (at, sync) in self.syncs.iter().enumerate() {
            if let Some(target) = sync.target.clone() {
                self.by_target.entry(target).or_default().push(at);
            }
        }
        let mut first: BTreeMap<&str, &str> = BTreeMap::new();
        let mut of_tree: BTreeSet<String> = BTreeSet::new();
        for sync in &self.syncs {
            let repository = source_of(&sync.object).and_then(|source| self.repositories.get(&source));
            let Some((repository, target)) = repository.zip(sync.target.as_deref()) else { continue };
            if *first.entry(repository).or_insert(target) != target {
                of_tree.insert(repository.clone());
            }
        }
        self.of_tree = of_tree;
    }

    /// Marks the Kustomizations of hubs, whose directories have the same paths in each of the repositories that they apply.
    ///
    /// In the directory of a hub, the Kustomizations apply this directory or a parent directory of several repositories.
    /// At most one of them is the tree, and the Kustomization of the tree would have the source of further Kustomizations.
    fn mark_hubs(&mut self) {
        let mut by_unit: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for sync in &self.syncs {
            let source = source_of(&sync.object);
            let Some(repository) = source.and_then(|source| self.repositories.get(&source)) else { continue };
            uses.entry(repository).or_default().insert(sync.object.name());
            let around = sync.units.iter().filter(|unit| sync.target.as_deref().is_some_and(|of| is_inside(unit, of)));
            for unit in around {
                by_unit.entry(unit).or_default().insert(repository);
            }
        }
        let is_used_once = |repository: &str| uses.get(repository).is_some_and(|names| names.len() == 1);
        let hubs = by_unit.into_values().filter(|by| by.len() > 1 && by.iter().all(|name| is_used_once(name)));
        let others: BTreeSet<String> = hubs.flatten().map(ToOwned::to_owned).collect();
        for sync in &mut self.syncs {
            let repository = source_of(&sync.object).and_then(|source| self.repositories.get(&source));
            if repository.is_some_and(|name| others.contains(name)) {
                (sync.target, sync.is_of_other) = (None, true);
            }
        }
    }

    /// Marks the Kustomizations that apply the same path of another repository: their source has an address, no other
    /// Kustomization of the directory uses it, and others apply existing directories of a source without an address, which is
    /// the source of the bootstrap.
    fn mark_others_beside(&mut self) {
        // The sources of the Kustomizations below each directory that a Kustomization of the same directory applies.
        let mut inside: BTreeMap<&str, BTreeMap<SourceRef, (usize, bool)>> = BTreeMap::new();
        let applies_itself = |sync: &WrittenSync, target: &str| sync.units.iter().any(|unit| is_inside(unit, target));
        let targets = self.syncs.iter().filter_map(|sync| sync.target.as_deref().filter(|of| applies_itself(sync, of)));
        inside.extend(targets.map(|target| (target, BTreeMap::new())));
        for sync in &self.syncs {
            let Some(source) = source_of(&sync.object) else { continue };
            let around: BTreeSet<&str> = sync.units.iter().flat_map(|unit| prefixes(unit)).collect();
            for folder in around {
                let Some(uses) = inside.get_mut(folder) else { continue };
                let uses = uses.entry(source.clone()).or_default();
                uses.0 += 1;
                uses.1 |= sync.target.as_deref().is_some_and(|target| target != folder);
            }
        }
        let is_other = |sync: &WrittenSync| {
            let uses = sync.target.as_deref().filter(|of| applies_itself(sync, of)).and_then(|of| inside.get(of));
            let (Some(uses), Some(source)) = (uses, source_of(&sync.object)) else { return false };
            self.repositories.contains_key(&source)
                && uses.get(&source).is_some_and(|(count, _)| *count == 1)
                && uses.iter().any(|(other, (_, is_here))| *is_here && !self.repositories.contains_key(other))
        };
        let others: Vec<bool> = self.syncs.iter().map(is_other).collect();
        for (sync, is_other) in self.syncs.iter_mut().zip(others) {
            if is_other {
                (sync.target, sync.is_of_other) = (None, true);
            }
        }
    }

    /// Marks the Kustomizations of tenants that apply the same path of their own repository: they have an account, a target
    /// namespace and a defined source, and a Kustomization of the platform applies the directory of this tree.
    fn mark_tenants(&mut self) {
        let is_tenant = |sync: &WrittenSync| {
            let is_set = |field: &str| sync.object.text_at(&["spec", field]).is_some();
            let is_defined = || source_of(&sync.object).is_some_and(|source| self.repositories.contains_key(&source));
            is_set("serviceAccountName") && is_set("targetNamespace") && is_defined()
        };
        let tenants: Vec<bool> = self.syncs.iter().map(is_tenant).collect();
        let of_platform = self.syncs.iter().zip(&tenants).filter(|(_, is_tenant)| !**is_tenant);
        let of_platform: BTreeSet<String> = of_platform.filter_map(|(sync, _)| sync.target.clone()).collect();
        for (sync, is_tenant) in self.syncs.iter_mut().zip(tenants) {
            if is_tenant && sync.target.as_ref().is_some_and(|target| of_platform.contains(target)) {
                (sync.target, sync.is_of_other) = (None, true);
            }
        }
    }

    /// The sources of the other repositories that the Kustomizations of a directory apply.
    pub(super) fn other_sources(&self, folder: &str) -> BTreeSet<SourceRef> {
        let inside = |sync: &&WrittenSync| sync.is_of_other && sync.units.iter().any(|unit| is_inside(unit, folder));
        self.syncs.iter().filter(inside).filter_map(|sync| source_of(&sync.object)).collect()
    }

    /// Removes the Kustomizations of files that no cluster applies.
    pub(super) fn remove_files(&mut self, files: &BTreeSet<String>) {
        if !files.is_empty() {
            self.syncs.retain(|sync| !files.contains(&sync.file));
            self.index();
        }
    }

    /// Adds the directories that roots sync.
    pub(super) fn add<'r>(&mut self, tree: &Tree, roots: impl Iterator<Item = &'r RootCandidate>) {
        self.synced.extend(roots.filter_map(|root| root.synced(tree)));
    }

    /// The directories that roots sync.
    pub(super) fn synced(&self) -> impl Iterator<Item = &str> {
        self.synced.iter().map(String::as_str)
    }

    /// The repository of a source that the tree defines.
    pub(super) fn repository_of(&self, source: &SourceRef) -> Option<&str> {
        self.repositories.get(source).map(String::as_str)
    }

    /// Returns whether a root, or a Kustomization outside of a directory, applies the directory.
    pub(super) fn covers(&self, folder: &str) -> bool {
        self.covers_except(folder, |_| false)
    }

    /// Returns whether a root or another Kustomization applies the directory of a Kustomization. A copy of the
    /// Kustomization that no object applies is the file with which a user created the Kustomization.
    pub(super) fn covers_with_other(&self, folder: &str, own: &Object) -> bool {
        self.covers_except(folder, |sync| {
            let one = &sync.object;
            let is_same = (one.namespace(), one.name()) == (own.namespace(), own.name());
            is_same && one.text_at(PATH) == own.text_at(PATH) && !sync.units.iter().any(|unit| self.covers(unit))
        })
    }

    /// Returns whether a root or a Kustomization applies a directory, apart from the Kustomizations to which the sync of
    /// another directory leads. A user applies the objects of a root, and Flux may apply them again.
    pub(super) fn covers_from_elsewhere(&self, folder: &str, synced: &str) -> bool {
        self.covers_except(folder, |sync| self.leads(synced, &sync.file))
    }

    fn covers_except(&self, folder: &str, is_except: impl Fn(&WrittenSync) -> bool) -> bool {
        let is_outside = |sync: &WrittenSync| !sync.units.iter().any(|unit| is_inside(unit, folder));
        let is_other = |at: &usize| {
            let sync = &self.syncs[*at];
            is_outside(sync) && !self.is_of_other(*at, folder) && !is_except(sync)
        };
        let is_applied = |target: &str| {
            let by = self.by_target.get(target).map_or(&[][..], Vec::as_slice);
            self.synced.contains(target) || by.iter().any(is_other)
        };
        prefixes(folder).any(|target| self.includers.reaches(target, folder) && is_applied(target))
    }

    /// Returns whether a Kustomization outside of a directory applies the directory or a part of it. A Kustomization of another
    /// cluster may apply a part without Kustomizations by mistake, if a Kustomization inside applies the same part.
    pub(super) fn enters(&self, folder: &str) -> bool {
        let is_inner = |at: &usize| self.syncs[*at].units.iter().any(|unit| is_inside(unit, folder));
        let is_outside = |at: &usize| !is_inner(at) && !self.is_of_other(*at, folder);
        let below = self.by_target.range(folder.to_string()..).take_while(|(target, _)| target.starts_with(folder));
        let mut parts = below.filter(|(target, _)| is_inside(target, folder));
        parts.any(|(target, by)| {
            let is_mistake = || !has_inside(&self.units, target) && by.iter().any(is_inner);
            by.iter().any(is_outside) && !is_mistake()
        })
    }

    /// Returns whether a Kustomization is a copy of the one that applies a directory and is in this directory.
    pub(super) fn is_copy_of_root(&self, copy: &WrittenSync, root: &str) -> bool {
        let identity = |sync: &WrittenSync| (sync.object.namespace().map(str::to_owned), sync.object.name().to_owned());
        let by = self.by_target.get(root).map_or(&[][..], Vec::as_slice);
        let mut own = by.iter().map(|at| &self.syncs[*at]).filter(|sync| is_inside(&sync.file, root));
        copy.target.as_deref() == Some(root) && own.any(|own| identity(own) == identity(copy))
    }

    /// Returns whether a Kustomization of a directory applies another part of a parent directory.
    pub(super) fn applies_part(&self, unit: &str, folder: &str) -> bool {
        let is_of_unit = |at: &usize| self.syncs[*at].units.contains(unit);
        let below = self.by_target.range(folder.to_string()..).take_while(|(target, _)| target.starts_with(folder));
        let mut parts = below.filter(|(target, _)| is_inside(target, folder) && !is_inside(target, unit));
        parts.any(|(target, by)| target != folder && by.iter().any(is_of_unit))
    }

    /// Returns whether a Kustomization applies a directory of another repository with the same path: its source has an
    /// address, the tree has no further directory that a Kustomization of the same repository applies, and the Kustomizations in
    /// this directory use sources of other namespaces and repositories, or of the repository of the tree.
    fn is_of_other(&self, at: usize, folder: &str) -> bool {
        let Some(source) = source_of(&self.syncs[at].object) else { return false };
        let Some(repository) = self.repositories.get(&source) else { return false };
        if self.of_tree.contains(repository) {
            return false;
        }
        let is_other = |inner: SourceRef| {
            let own = self.repositories.get(&inner);
            let is_of_tree = || own.is_some_and(|own| self.of_tree.contains(own));
            own != Some(repository) && (inner.namespace != source.namespace || is_of_tree())
        };
        let mut inside = self.syncs.iter().filter(|sync| sync.units.iter().any(|unit| is_inside(unit, folder)));
        inside.all(|sync| source_of(&sync.object).is_some_and(is_other))
    }

    /// Returns whether Flux reaches a file if it syncs a directory, directly or through further Kustomizations of the
    /// same cluster.
    pub(super) fn leads(&self, folder: &str, file: &str) -> bool {
        let mut open: Vec<&str> = vec![file];
        let mut seen: BTreeSet<&str> = BTreeSet::from([file]);
        while let Some(path) = open.pop() {
            if self.includers.reaches(folder, path) {
                return true;
            }
            let tops = self.includers.tops(path);
            let homes = tops.iter().map(String::as_str).chain([folder_of(path)]);
            let targets: BTreeSet<&str> = homes.flat_map(prefixes).collect();
            let targets = targets.into_iter().filter_map(|target| Some((target, self.by_target.get(target)?)));
            let appliers = targets.filter(|(target, _)| self.includers.reaches(target, path)).flat_map(|(_, by)| by);
            let own = appliers.map(|at| &self.syncs[*at]).filter(|sync| !is_remote(&sync.object));
            open.extend(own.map(|sync| sync.file.as_str()).filter(|file| seen.insert(file)));
        }
        false
    }

    /// Returns whether a directory contains the directory of a root, or is inside the directory of a root.
    pub(super) fn overlaps(&self, folder: &str) -> bool {
        has_inside(&self.synced, folder)
            || prefixes(folder).any(|above| !above.is_empty() && self.synced.contains(above))
    }
}

/// Returns whether one of several directories is a directory or inside it.
fn has_inside(folders: &BTreeSet<String>, folder: &str) -> bool {
    let inside = format!("{folder}/");
    folder.is_empty() && !folders.is_empty()
        || folders.contains(folder)
        || folders.range(inside.clone()..).next().is_some_and(|one| one.starts_with(&inside))
}

/// The Flux objects of a file.
#[derive(Default)]
struct WrittenFlux {
    repositories: Vec<(SourceRef, String)>,
    syncs: Vec<WrittenSync>,
}

impl WrittenFlux {
    fn of(tree: &Tree, includers: &Includers, path: &str, parsed: &Parsed) -> Self {
        let mut found = Self::default();
        let text = parsed.file.text();
        if text.contains(groups::SOURCE) {
            let sources = objects(parsed).filter(is_source);
            found.repositories = sources.filter_map(|one| Some((identity(&one), repository(&[one])?))).collect();
        }
        if !text.contains(groups::KUSTOMIZE) {
            return found;
        }
        for object in objects(parsed).filter(|object| is_kustomization(object) && !is_exported(object)) {
            let tops = includers.tops(path);
            let is_loose = tops.is_empty();
            if is_loose && includers.named.contains(path) {
                // The file is a patch, not an object.
                continue;
            }
            let units = if is_loose { BTreeSet::from([folder_of(path).to_string()]) } else { tops };
            // A program fills the templates of a file elsewhere.
            let is_of_template = is_loose && is_template(folder_of(path));
            let target = target(tree, path, &object).filter(|_| !is_of_template);
            found.syncs.push(WrittenSync {
                object,
                file: path.to_string(),
                units,
                is_loose,
                target,
                is_of_other: false,
            });
        }
        found
    }
}

/// Returns whether the synced directory of a candidate contains or applies the file of the candidate.
pub(super) fn contains_itself(tree: &Tree, coverage: &Coverage<'_>, one: &RootCandidate) -> bool {
    let file = one.file.path();
    one.synced(tree).is_some_and(|folder| is_inside(file, &folder) || coverage.leads(&folder, file))
}

/// The source of a Kustomization. Its default namespace is the namespace of Flux.
pub(super) fn source_of(object: &Object) -> Option<SourceRef> {
    let source = SourceRef::of_kustomization(object)?;
    let is_known = !source.namespace.is_empty();
    Some(if is_known { source } else { SourceRef { namespace: groups::FLUX_NAMESPACE.into(), ..source } })
}

/// Returns whether a Kustomization applies its objects to another cluster.
pub(super) fn is_remote(object: &Object) -> bool {
    object.node.at_keys(&["spec", "kubeConfig"]).is_some()
}

/// The reference to a source. Its default namespace is the namespace of Flux.
fn identity(source: &Object) -> SourceRef {
    let namespace = source.namespace().unwrap_or(groups::FLUX_NAMESPACE);
    SourceRef { kind: source.kind().into(), namespace: namespace.into(), name: source.name().into() }
}

/// The path with a variable in the directory of a cluster, where the variable is usually the name of the cluster: for the
/// path `clusters/$NAME/apps` in a file below `clusters/prod`, it is `clusters/prod/apps`. `rest` is the path after the
/// start of the variable.
fn own_directory(file: &str, known: &str, rest: &str) -> Option<String> {
    let (_, after) = rest.split_once('/').filter(|(_, after)| !after.is_empty() && !after.contains('$'))?;
    let (name, _) = file.strip_prefix(known)?.trim_start_matches('/').split_once('/')?;
    Some(below(&below(known, name), after))
}

/// The directory that a Kustomization applies; `None` for a whole source, since the path of such a Kustomization does
/// not identify the repository.
fn target(tree: &Tree, file: &str, object: &Object) -> Option<String> {
    let path = object.text_at(&["spec", "path"]).map(clamp).filter(|path| !path.is_empty())?;
    if tree.has_folder(&path) {
        return Some(path);
    }
    if let Some((known, rest)) = path.split_once('$') {
        // A variable may have any value, so only the directory before the variable is known.
        let known = known.rsplit_once('/').map_or("", |(known, _)| known);
        let own = own_directory(file, known, rest).filter(|own| tree.has_folder(own));
        return own.or_else(|| Some(known.to_string()).filter(|known| !known.is_empty()));
    }
    prefix(tree, file, &path).map(|prefix| below(&prefix, &path))
}
