//! Checks the paths of Kustomizations that no cluster reaches, if their source is the repository itself.

use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::base::finding::{Finding, Follows, Severity};
use crate::base::set_aside::is_set_aside;
use crate::flux::build::kustomization::missing;
use crate::flux::cluster::desired_state::Cluster;
use crate::flux::install::roots::root::Root;
use crate::flux::model::built_object::Built;
use crate::flux::object::kinds::is_kustomization;
use crate::flux::object::kustomization_path::{below, clamp};
use crate::flux::source::reference::SourceRef;
use crate::kube::Object;
use crate::text::{Index, Tree, folder_of, is_inside};
use crate::yaml::{Style, Value};

/// The rule that reports an object which no cluster reaches. The path of such a Kustomization has no effect.
const UNREACHABLE_OBJECT: &str = "unreachable-object";

/// The sources that are the repository itself.
pub(crate) struct OwnSources {
    /// The sources, each with the directory of the repository that is the root of the source.
    sources: Vec<(SourceRef, String)>,
    /// The directories of the roots that sync other repositories.
    of_others: Vec<String>,
}

impl OwnSources {
    pub(crate) fn new(roots: &[Root]) -> Self {
        let own = |root: &Root| Some((root.own_source()?, root.prefix.clone().unwrap_or_default()));
        let of_others = roots.iter().filter(|root| root.syncs_other).map(|root| root.folder.clone());
        Self { sources: roots.iter().filter_map(own).collect(), of_others: of_others.collect() }
    }

    /// The findings of missing paths of Kustomizations that no cluster reaches.
    pub(crate) fn missing_paths(&self, objects: &[Built], clusters: &[Cluster], tree: &Tree) -> Vec<Finding> {
        let folders = LazyLock::new(|| applied_folders(clusters));
        let missing = |built: &Built| {
            let is_candidate = built.is_final && is_kustomization(&built.object);
            is_candidate.then(|| self.missing_path(built, &folders, tree)).flatten()
        };
        let missing: Vec<(&Built, Finding)> =
            objects.par_iter().filter_map(|built| Some((built, missing(built)?))).collect();
        if missing.is_empty() {
            return Vec::new();
        }
        let reached = reached(clusters);
        let unreached = missing.into_iter().filter(|(built, _)| !reached.contains(&written(&built.object)));
        unreached.map(|(_, finding)| finding).collect()
    }

    fn missing_path<'a>(
        &self,
        built: &Built,
        folders: &impl Deref<Target = Index<&'a str, ()>>,
        tree: &Tree,
    ) -> Option<Finding> {
        let object = &built.object;
        let path = object.node.at_keys(&["spec", "path"])?;
        let Value::Scalar(text, style) = &path.value else { return None };
        let is_open = *style == Style::Unknown || text.contains(['$', '<']) || text.contains("{{");
        let file = object.node.origin.written().file().path();
        let is_aside =
            is_set_aside(file, |folder| folders.contains(folder)) || file.ends_with(crate::kube::groups::SYNC_FILE);
        let is_of_other = self.of_others.iter().any(|folder| is_inside(file, folder));
        if is_open || is_aside || is_of_other || built.completion.mentions("path") {
            return None;
        }
        let source = SourceRef::of_kustomization(object)?;
        // The applier of an object without a namespace sets the namespace.
        let is_same = |own: &SourceRef| {
            own.kind == source.kind
                && own.name == source.name
                && (source.namespace.is_empty() || own.namespace == source.namespace)
        };
        let mut roots = self.sources.iter().filter(|(own, _)| is_same(own)).map(|(_, prefix)| prefix).peekable();
        roots.peek()?;
        let folder = clamp(text);
        if roots.any(|prefix| tree.has_folder(&below(prefix, &folder))) {
            return None;
        }
        let help =
            "correct the path before a cluster applies this Kustomization, or remove it: no cluster applies it now";
        let finding = missing(object, path, &folder, false).help(help);
        let finding =
            finding.following(Follows { rules: &[UNREACHABLE_OBJECT], object: object.reference(), stands_alone: true });
        Some(Finding { severity: Severity::Warning, ..finding })
    }
}

/// The positions of the Kustomizations that clusters reach.
fn reached(clusters: &[Cluster]) -> Index<(&str, usize), ()> {
    let mut reached: Index<(&str, usize), ()> = Index::default();
    // Clusters share most appliers and inventories, so each one is visited once.
    let mut seen: Index<usize, ()> = Index::default();
    for applier in clusters.iter().flat_map(|cluster| &cluster.appliers) {
        let Some(object) = &applier.object else { continue };
        if seen.insert(object.node.entries().as_ptr().addr(), ()).is_none() {
            reached.insert(written(object), ());
        }
    }
    let sets = clusters.iter().flat_map(|cluster| &cluster.applied_sets);
    for inventory in sets.filter_map(|set| set.inventory.as_ref()) {
        if seen.insert(Arc::as_ptr(inventory).addr(), ()).is_none() {
            for indexed in inventory.appliers() {
                reached.insert(written(&indexed.object), ());
            }
        }
    }
    reached
}

/// The directories that contain an object of a cluster, and their parent directories.
fn applied_folders(clusters: &[Cluster]) -> Index<&str, ()> {
    let mut folders: Index<&str, ()> = Index::default();
    for object in clusters.iter().flat_map(|cluster| &cluster.applied_sets).flat_map(|set| set.objects.iter()) {
        let mut folder = object.node.get("kind").unwrap_or(&object.node).origin.written().file().path();
        while !folder.is_empty() {
            folder = folder_of(folder);
            if folders.insert(folder, ()).is_some() {
                break;
            }
        }
    }
    folders
}

/// The position where an object is written. Builds and patches do not change this position.
fn written(object: &Object) -> (&str, usize) {
    let span = object.node.get("kind").unwrap_or(&object.node).origin.written();
    (span.file().path(), span.range().start)
}
