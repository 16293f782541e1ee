//! The paths of Kustomizations that no cluster reaches. They are checked if the source is the repository itself.

use std::collections::BTreeSet;

use crate::base::finding::Finding;
use crate::flux::build::kustomization::missing;
use crate::flux::cluster::desired_state::Cluster;
use crate::flux::install::root::Root;
use crate::flux::model::built_object::Built;
use crate::flux::object::kinds::is_kustomization;
use crate::flux::object::source_path::{below, clamp};
use crate::flux::source::reference::SourceRef;
use crate::kube::Object;
use crate::text::Tree;
use crate::yaml::{Style, Value};

/// Directories of manifests that are not meant to be applied.
const NOT_MEANT: [&str; 12] = [
    "example",
    "examples",
    "sample",
    "samples",
    "test",
    "tests",
    "testdata",
    "fixtures",
    "template",
    "templates",
    "docs",
    "charts",
];

/// The sources that are the repository itself, with the directory that is their root.
pub(crate) struct OwnSources(Vec<(SourceRef, String)>);

impl OwnSources {
    pub(crate) fn new(roots: &[Root]) -> Self {
        let own = |root: &Root| Some((root.own_source()?, root.prefix.clone().unwrap_or_default()));
        Self(roots.iter().filter_map(own).collect())
    }

    /// The findings of missing paths of Kustomizations that no cluster reaches.
    pub(crate) fn missing_paths(&self, objects: &[Built], clusters: &[Cluster], tree: &Tree) -> Vec<Finding> {
        let appliers = clusters.iter().flat_map(|cluster| &cluster.appliers);
        let reached: BTreeSet<_> = appliers.filter_map(|applier| applier.object.as_ref()).map(written).collect();
        let indexed = clusters
            .iter()
            .flat_map(|cluster| &cluster.applied_sets)
            .filter_map(|applied_sets| applied_sets.inventory.as_ref());
        let indexed = indexed.flat_map(|inventory| inventory.appliers().map(|indexed| written(&indexed.object)));
        let mut reached = reached;
        reached.extend(indexed);
        let unreached = objects.iter().filter(|built| is_kustomization(&built.object) && built.is_final);
        let unreached = unreached.filter(|built| !reached.contains(&written(&built.object)));
        unreached.filter_map(|built| self.missing_path(built, tree)).collect()
    }

    fn missing_path(&self, built: &Built, tree: &Tree) -> Option<Finding> {
        let object = &built.object;
        let path = object.node.at_keys(&["spec", "path"])?;
        let Value::Scalar(text, style) = &path.value else { return None };
        let is_open = *style == Style::Unknown || text.contains('$') || text.contains("{{");
        let file = object.node.origin.written().file().path();
        let is_meant =
            !file.split('/').any(|segment| NOT_MEANT.contains(&segment)) && !file.ends_with("gotk-sync.yaml");
        if is_open || !is_meant || built.completion.mentions("path") {
            return None;
        }
        let source = SourceRef::of_kustomization(object)?;
        // An object without a namespace gets one from its applier.
        let is_same = |own: &SourceRef| {
            own.kind == source.kind
                && own.name == source.name
                && (source.namespace.is_empty() || own.namespace == source.namespace)
        };
        let mut roots = self.0.iter().filter(|(own, _)| is_same(own)).map(|(_, prefix)| prefix).peekable();
        roots.peek()?;
        let folder = clamp(text);
        if roots.any(|prefix| tree.has_folder(&below(prefix, &folder))) {
            return None;
        }
        let help = "no cluster reaches this Kustomization: correct the path before a cluster applies it, or remove it";
        Some(missing(object, path, &folder, false).help(help))
    }
}

/// The position where an object is written. Builds and patches do not change it.
fn written(object: &Object) -> (String, usize) {
    let span = object.node.get("kind").unwrap_or(&object.node).origin.written();
    (span.file().path().to_owned(), span.range().start)
}
