//! Candidates for roots.

use std::collections::{BTreeMap, BTreeSet};

use super::names::CLUSTERS;
use super::repository::{address, revision};
use crate::base::finding::Finding;
use crate::flux::object::kustomization_path::{below, clamp};
use crate::kube::Object;
use crate::text::{File, Span, Tree, folder_of, is_inside};
use crate::yaml::Name;

/// The kind of a candidate. The most reliable kind is the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CandidateKind {
    /// A root that the configuration declares.
    Declared,
    Instance,
    Sync,
    Chart,
    Values,
    /// A Kustomization that applies its own directory.
    SelfApplied,
    /// A Kustomization beside its source, in a directory that no object applies.
    ByHand,
    ToCome,
    /// A directory of Kustomizations that no object applies. The objects of the root are generated.
    Folder,
}

/// A candidate for a root.
#[expect(clippy::struct_excessive_bools, reason = "the facts are independent")]
pub(super) struct RootCandidate {
    pub(super) kind: CandidateKind,
    /// The file of the object that creates the root.
    pub(super) file: File,
    /// The directory of the bootstrap: the directory of the file, or of the kustomization that includes the file.
    pub(super) home: String,
    /// The objects of the bootstrap; the object that creates the root is the last one.
    pub(super) objects: Vec<Object>,
    pub(super) findings: Vec<Finding>,
    pub(super) controller: Option<Object>,
    /// The synced path.
    pub(super) path: String,
    /// The directory of the tree that is the root of the source, if it is known.
    pub(super) prefix: Option<String>,
    /// The name of the cluster, if the configuration sets it.
    pub(super) name: Option<Name>,
    /// Whether the root keeps its source although a patch of the cluster's directory replaces it.
    pub(super) keeps_source: bool,
    /// Further sources of the tree, each with the directory of the tree that is its root: the sources of the bootstraps that a
    /// FluxInstance replaces, and sources that exclude the synced directory.
    pub(super) further_sources: Vec<(Object, String)>,
    /// Whether the bootstrap has several Kustomizations, so that the synced path does not identify the cluster.
    pub(super) has_parts: bool,
    /// Whether the bootstrap may sync another directory of the cluster, or it is not certain that Flux applies the directory.
    pub(super) has_alternatives: bool,
    /// Whether the bootstrap syncs another revision than the tree, which may contain further directories.
    pub(super) is_of_other_revision: bool,
}

impl RootCandidate {
    pub(super) fn new(kind: CandidateKind, file: &File, objects: Vec<Object>, path: &str) -> Self {
        Self {
            kind,
            file: file.clone(),
            home: folder_of(file.path()).to_string(),
            objects,
            findings: Vec::new(),
            controller: None,
            path: path.to_string(),
            prefix: None,
            name: None,
            keeps_source: false,
            further_sources: Vec::new(),
            has_parts: false,
            has_alternatives: false,
            is_of_other_revision: false,
        }
    }

    /// The position of the synced path.
    pub(super) fn place(&self) -> Span {
        let place = self.objects.last().and_then(|object| {
            let paths = [&["spec", "path"][..], &["spec", "sync", "path"]];
            paths.into_iter().find_map(|path| object.node.at_keys(path)).map(|node| node.span().clone())
        });
        place.unwrap_or_else(|| self.file.first_line())
    }

    /// Returns whether the candidate is a `gotk-sync.yaml`, which may not exist yet.
    pub(super) fn is_bootstrap(&self) -> bool {
        matches!(self.kind, CandidateKind::Sync | CandidateKind::ToCome)
    }

    /// The namespace of the object that creates the root.
    pub(super) fn namespace(&self) -> Option<String> {
        self.objects.last()?.namespace().map(str::to_owned)
    }

    /// Returns whether Flux Operator creates the root.
    pub(super) fn is_of_operator(&self) -> bool {
        matches!(self.kind, CandidateKind::Instance | CandidateKind::Chart | CandidateKind::Values)
    }

    /// Returns whether the source is an OCI artifact or a bucket, which may contain any directory of the repository.
    fn is_of_artifact(&self) -> bool {
        let Some(object) = self.objects.last() else { return false };
        let kinds = [&["spec", "sourceRef", "kind"][..], &["spec", "sync", "kind"]];
        kinds.iter().any(|path| matches!(object.text_at(path), Some("OCIRepository" | "Bucket")))
    }

    /// The synced directory of the tree; `None` if the directory does not exist.
    pub(super) fn synced(&self, tree: &Tree) -> Option<String> {
        let prefix = self.prefix(tree)?;
        let folder = below(&prefix, &clamp(&self.path));
        tree.has_folder(&folder).then_some(folder)
    }

    /// The directory of the tree that is the root of the synced source.
    pub(super) fn prefix(&self, tree: &Tree) -> Option<String> {
        let found = || prefix(tree, self.file.path(), &clamp(&self.path));
        // An artifact for one cluster contains only the directory of that cluster.
        if clamp(&self.path).is_empty() && self.is_of_artifact() && self.prefix.is_none() {
            let home = prefixes(&self.home).find(|above| folder_of(above).rsplit('/').next() == Some(CLUSTERS));
            if let Some(home) = home {
                return Some(home.to_string());
            }
        }
        // `flux bootstrap` writes the file into the synced repository, so the tree is the source even if the path is
        // missing.
        self.prefix.clone().or_else(found).or_else(|| (self.kind == CandidateKind::Sync).then(String::new))
    }
}

/// The directory of the tree below which the path of a source exists: the tree itself, or a part that is an artifact or
/// a separate repository.
pub(super) fn prefix(tree: &Tree, file: &str, path: &str) -> Option<String> {
    let folders = || prefixes(folder_of(file));
    // The synced directory nearly always contains the bootstrap itself. If it does not, the outermost directory with
    // the path is the root of the source.
    let own = folders().find(|prefix| is_inside(file, &below(prefix, path)));
    let own = own.or_else(|| folders().find(|prefix| tree.has_folder(&below(prefix, path))));
    own.map(ToString::to_string)
}

/// Sets the root of the source of each `gotk-sync.yaml` whose path exists below a directory only, if another cluster syncs
/// itself from the tree, and both have the same repository: the directory is not a separate repository, so the path is
/// missing.
pub(super) fn correct_prefixes(tree: &Tree, candidates: &mut [RootCandidate]) {
    let syncs = || candidates.iter().filter(|one| one.kind == CandidateKind::Sync && one.prefix.is_none());
    let contains_itself = |one: &&RootCandidate| {
        one.prefix(tree).as_deref() == Some("")
            && one.synced(tree).is_some_and(|folder| !folder.is_empty() && is_inside(one.file.path(), &folder))
    };
    let mut of_tree: BTreeMap<String, BTreeSet<Vec<(String, String)>>> = BTreeMap::new();
    for one in syncs().filter(contains_itself) {
        if let Some(address) = address(&one.objects) {
            of_tree.entry(address).or_default().insert(revision(&one.objects));
        }
    }
    for one in candidates.iter_mut().filter(|one| one.kind == CandidateKind::Sync && one.prefix.is_none()) {
        let Some(revisions) = address(&one.objects).and_then(|address| of_tree.get(&address)) else { continue };
        if one.prefix(tree).is_some_and(|prefix| !prefix.is_empty()) {
            one.prefix = Some(String::new());
            one.is_of_other_revision = !revisions.contains(&revision(&one.objects));
        }
    }
}

/// The parent directory of a cluster below which most paths exist, and the number of these paths. If several
/// directories have equally many paths, the outermost one has precedence.
pub(super) fn best_prefix(tree: &Tree, folder: &str, paths: &[String]) -> (String, usize) {
    let mut best = (String::new(), 0);
    for prefix in prefixes(folder_of(folder)) {
        let count = paths.iter().filter(|path| tree.has_folder(&below(prefix, path))).count();
        if count > best.1 {
            best = (prefix.to_string(), count);
        }
    }
    best
}

/// The parent directories of a directory and the directory itself, outermost first.
pub(super) fn prefixes(folder: &str) -> impl Iterator<Item = &str> {
    let ends = folder.match_indices('/').map(|(at, _)| at);
    let own = Some(folder).filter(|folder| !folder.is_empty());
    std::iter::once("").chain(ends.filter_map(|end| folder.get(..end))).chain(own)
}

/// The directory `clusters` that contains a directory; `None` if the directory is not below `clusters`.
pub(super) fn base_of(folder: &str) -> Option<&str> {
    prefixes(folder).find(|above| above.rsplit('/').next() == Some(CLUSTERS)).filter(|base| *base != folder)
}
