//! What Flux adds to objects on their way to the cluster, as far as the Kustomizations that apply a folder say it.
//!
//! An object may lack a field that its applier patches in, or a namespace that its applier gives it. Judged as written
//! it would be accused of what it need not have.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::kube::Object;
use crate::text::{Index, normalize};
use crate::yaml::Node;

use crate::flux::object::kinds::is_kustomization;

/// What one Flux Kustomization does to what it applies.
#[derive(Debug, Clone)]
pub(crate) struct Applier {
    /// The folder it applies, up to the first variable.
    folder: String,
    /// Whether that is all of its path.
    exact: bool,
    /// Its `targetNamespace`.
    target_namespace: Option<Arc<str>>,
    /// Its patches as text; empty when it has none.
    patches: Arc<str>,
}

/// What is done to an object before it reaches the cluster. Cheap to clone: every object of a folder has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Completion {
    /// The namespace that an applier puts it into.
    pub target_namespace: Option<Arc<str>>,
    /// The different texts of the patches that are laid over it.
    patches: Arc<[Arc<str>]>,
    /// Whether a transformer that was not run may set any field of it.
    pub(crate) open: bool,
}

impl Completion {
    /// Tells whether a patch on the way mentions a field: what the object says of it is then not the last word.
    pub fn mentions(&self, field: &str) -> bool {
        self.open || self.patches.iter().any(|patch| patch.contains(field))
    }
}

impl Applier {
    /// The applier that an object is, if it is one.
    pub(crate) fn of(object: &Object) -> Option<Self> {
        if !is_kustomization(object) {
            return None;
        }
        let path = object.text_at(&["spec", "path"]).unwrap_or_default();
        // A variable may stand for anything: the folder before it is what is known.
        let known =
            path.split_once('$').map_or(path, |(before, _)| before.rsplit_once('/').map_or("", |(folder, _)| folder));
        let mut patches = String::new();
        let fields = ["patches", "patchesStrategicMerge", "patchesJson6902"];
        for field in fields {
            if let Some(node) = object.node.at_keys(&["spec", field]) {
                write_text(node, &mut patches);
            }
        }
        let target_namespace = object.text_at(&["spec", "targetNamespace"]).map(Arc::from);
        Some(Self { folder: normalize(known)?, exact: !path.contains('$'), target_namespace, patches: patches.into() })
    }

    /// The folder that it applies.
    pub(crate) fn folder(&self) -> &str {
        &self.folder
    }
}

/// Appliers by the folder that they apply: a fleet has one for each tenant of each cluster, so that asking all of them
/// for every folder would cost the square of its clusters.
#[derive(Default)]
pub(crate) struct Appliers {
    by_folder: Index<String, Together>,
    /// How many segments the longest of these folders has.
    longest: usize,
}

/// What the appliers of one folder do, taken together.
#[derive(Default)]
struct Together {
    /// The `targetNamespace` of the last one that has any, and how manieth it is.
    target_namespace: Option<(usize, Arc<str>)>,
    patches: BTreeSet<Arc<str>>,
}

impl FromIterator<Applier> for Appliers {
    fn from_iter<I: IntoIterator<Item = Applier>>(all: I) -> Self {
        let mut appliers = Self::default();
        for (number, applier) in all.into_iter().enumerate() {
            appliers.longest = appliers.longest.max(applier.folder.split('/').count());
            // The root of a source is a folder of every repository: it says too little about which one.
            let known = applier.exact && !applier.folder.is_empty();
            let together = appliers.by_folder.entry(applier.folder);
            if let Some(namespace) = applier.target_namespace.filter(|_| known) {
                together.target_namespace = Some((number, namespace));
            }
            if !applier.patches.is_empty() {
                together.patches.insert(applier.patches);
            }
        }
        appliers
    }
}

impl Appliers {
    /// What the appliers that may apply a folder do, taken together.
    ///
    /// The path of an applier is relative to its source, which may be any folder of the tree: several repositories side
    /// by side, or an artifact made of a part of one. So it may be any run of the folder's segments.
    pub(crate) fn completion(&self, folder: &str) -> Completion {
        let starts = std::iter::once(0).chain(folder.match_indices('/').map(|(at, _)| at + 1));
        let runs = starts.filter_map(|start| folder.get(start..)).flat_map(|rest| {
            let ends = rest.match_indices('/').map(|(at, _)| at).chain([rest.len()]);
            ends.take(self.longest).filter_map(|end| rest.get(..end))
        });
        let root = std::iter::once("").filter(|_| !folder.is_empty());
        let mut target_namespace: Option<&(usize, Arc<str>)> = None;
        let mut patches: BTreeSet<&Arc<str>> = BTreeSet::new();
        for together in root.chain(runs).filter_map(|run| self.by_folder.get(run)) {
            target_namespace = target_namespace.max(together.target_namespace.as_ref());
            patches.extend(&together.patches);
        }
        Completion {
            target_namespace: target_namespace.map(|(_, namespace)| namespace.clone()),
            patches: patches.into_iter().cloned().collect(),
            open: false,
        }
    }
}

/// The keys and scalars of a node, one a line.
fn write_text(node: &Node, out: &mut String) {
    if let Some(text) = node.text() {
        out.push_str(text);
        out.push('\n');
    }
    node.items().iter().for_each(|item| write_text(item, out));
    for entry in node.entries() {
        out.push_str(&entry.key);
        out.push('\n');
        write_text(&entry.node, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applier(folder: &str, namespace: Option<&str>, patches: &str) -> Applier {
        let target_namespace = namespace.map(Arc::from);
        Applier { folder: folder.into(), exact: true, target_namespace, patches: patches.into() }
    }

    #[test]
    fn an_applier_reaches_the_runs_of_segments_that_are_its_path_and_no_others() {
        let appliers = |folder| Appliers::from_iter([applier(folder, Some("x"), "patch")]);
        for folder in ["a", "b", "c", "a/b", "b/c", "a/b/c"] {
            let completion = appliers(folder).completion("a/b/c");
            assert!(completion.target_namespace.is_some() && completion.mentions("patch"), "{folder}");
        }
        for folder in ["a/c", "a/b/c/d", "d", "/", "b/"] {
            assert_eq!(appliers(folder).completion("a/b/c"), Completion::default(), "{folder}");
        }
        let root = appliers("");
        assert!(root.completion("a/b").mentions("patch") && root.completion("").mentions("patch"));
        assert_eq!(root.completion("a").target_namespace, None);
    }

    #[test]
    fn the_last_applier_decides_and_equal_patches_are_kept_once() {
        let many = (0..1000).map(|number| applier("a", Some(&format!("n{number}")), "the same"));
        let appliers: Appliers = many.chain([applier("b", None, "")]).collect();
        let completion = appliers.completion("a/b");
        assert_eq!(completion.target_namespace.as_deref(), Some("n999"));
        assert_eq!(completion.patches.len(), 1);
    }
}
