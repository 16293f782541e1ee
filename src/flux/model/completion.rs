//! Changes that Flux makes to the objects of a directory, according to the Kustomizations that apply the directory.
//!
//! A Kustomization may patch a missing field into an object or set its namespace. A rule that checks only the object as
//! written would report such a field.

use std::collections::BTreeSet;
use std::sync::Arc;

use arcstr::ArcStr;

use crate::flux::object::kinds::is_kustomization;
use crate::kube::Object;
use crate::text::{Index, normalize};
use crate::yaml::Node;

/// The changes that a Kustomization as written makes to the objects that it applies.
#[derive(Debug, Clone)]
pub(crate) struct WrittenKustomization {
    /// The directory that the Kustomization applies, up to the first variable.
    folder: String,
    /// Whether the path has no variable.
    exact: bool,
    /// The `targetNamespace`.
    target_namespace: Option<ArcStr>,
    /// The patches as text; empty without patches.
    patches: ArcStr,
}

/// The changes that appliers make to an object. They are cheap to clone, since every object of a directory has a copy.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Completion {
    /// The namespace that an applier sets.
    pub target_namespace: Option<ArcStr>,
    /// The distinct texts of the patches. Objects share the texts for each directory of a Kustomization.
    patches: Vec<Arc<BTreeSet<ArcStr>>>,
    /// Whether a component that the build omits may have set any field.
    pub(crate) open: bool,
}

impl Completion {
    /// Returns whether a patch mentions a field, so that the object's own value may not be the final value.
    pub fn mentions(&self, field: &str) -> bool {
        self.open || self.patches.iter().flat_map(|texts| texts.iter()).any(|patch| patch.contains(field))
    }
}

impl WrittenKustomization {
    /// Reads a Kustomization; `None` for other objects.
    pub(crate) fn read(object: &Object) -> Option<Self> {
        if !is_kustomization(object) {
            return None;
        }
        let path = object.text_at(&["spec", "path"]).unwrap_or_default();
        let mut patches = String::new();
        let fields = ["patches", "patchesStrategicMerge", "patchesJson6902"];
        for field in fields {
            if let Some(node) = object.node.at_keys(&["spec", field]) {
                write_text(node, &mut patches);
            }
        }
        let target_namespace = object.text_at(&["spec", "targetNamespace"]).map(ArcStr::from);
        Some(Self {
            folder: known_folder(path)?,
            exact: !path.contains('$'),
            target_namespace,
            patches: patches.into(),
        })
    }

    /// The directory that a Kustomization applies, up to the first variable; `None` for other objects.
    pub(crate) fn applied_folder(object: &Object) -> Option<String> {
        let path = is_kustomization(object).then(|| object.text_at(&["spec", "path"]).unwrap_or_default());
        known_folder(path?)
    }
}

/// The directory of a path. A variable may have any value, so only the directory before the variable is known.
fn known_folder(path: &str) -> Option<String> {
    let Some((before, _)) = path.split_once('$') else { return normalize(path) };
    normalize(before.rsplit_once('/').map_or("", |(folder, _)| folder))
}

/// Kustomizations by the directory that they apply. A fleet has a Kustomization for each tenant of each cluster, so a
/// check of all Kustomizations for every directory would take quadratic time.
#[derive(Default)]
pub(crate) struct WrittenKustomizations {
    by_folder: Index<String, CombinedEffects>,
    /// The number of segments of the longest directory.
    longest: usize,
}

/// The combined changes of the Kustomizations of one directory.
#[derive(Default)]
struct CombinedEffects {
    /// The last `targetNamespace`, with the position of its Kustomization among all Kustomizations.
    target_namespace: Option<(usize, ArcStr)>,
    patches: Arc<BTreeSet<ArcStr>>,
}

impl FromIterator<WrittenKustomization> for WrittenKustomizations {
    fn from_iter<I: IntoIterator<Item = WrittenKustomization>>(all: I) -> Self {
        let mut appliers = Self::default();
        for (number, applier) in all.into_iter().enumerate() {
            appliers.longest = appliers.longest.max(applier.folder.split('/').count());
            // Every source has a root directory, so the Kustomization may apply another repository.
            let known = applier.exact && !applier.folder.is_empty();
            let together = appliers.by_folder.entry(applier.folder);
            if let Some(namespace) = applier.target_namespace.filter(|_| known) {
                together.target_namespace = Some((number, namespace));
            }
            if !applier.patches.is_empty() {
                Arc::make_mut(&mut together.patches).insert(applier.patches);
            }
        }
        appliers
    }
}

impl WrittenKustomizations {
    /// The combined changes of the Kustomizations that may apply a directory.
    ///
    /// The path of a Kustomization is relative to its source, which may be any directory of the tree: one of several
    /// repositories, or an artifact generated from a part of the tree. So any contiguous run of the directory's
    /// segments may match.
    pub(crate) fn completion(&self, folder: &str) -> Completion {
        let starts = std::iter::once(0).chain(folder.match_indices('/').map(|(at, _)| at + 1));
        let runs = starts.filter_map(|start| folder.get(start..)).flat_map(|rest| {
            let ends = rest.match_indices('/').map(|(at, _)| at).chain([rest.len()]);
            ends.take(self.longest).filter_map(|end| rest.get(..end))
        });
        let root = std::iter::once("").filter(|_| !folder.is_empty());
        let mut target_namespace: Option<&(usize, ArcStr)> = None;
        let mut patches: Vec<Arc<BTreeSet<ArcStr>>> = Vec::new();
        for together in root.chain(runs).filter_map(|run| self.by_folder.get(run)) {
            target_namespace = target_namespace.max(together.target_namespace.as_ref());
            patches.extend(Some(together.patches.clone()).filter(|texts| !texts.is_empty()));
        }
        Completion { target_namespace: target_namespace.map(|(_, namespace)| namespace.clone()), patches, open: false }
    }
}

/// Writes the keys and scalars of a node, one per line.
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

    fn applier(folder: &str, namespace: Option<&str>, patches: &str) -> WrittenKustomization {
        let target_namespace = namespace.map(ArcStr::from);
        WrittenKustomization { folder: folder.into(), exact: true, target_namespace, patches: patches.into() }
    }

    #[test]
    fn a_path_matches_contiguous_runs_of_segments_only() {
        let appliers = |folder| WrittenKustomizations::from_iter([applier(folder, Some("x"), "patch")]);
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
    fn the_last_namespace_counts_and_equal_patches_are_kept_once() {
        let many = (0..1000).map(|number| applier("a", Some(&format!("n{number}")), "the same"));
        let appliers: WrittenKustomizations = many.chain([applier("b", None, "")]).collect();
        let completion = appliers.completion("a/b");
        assert_eq!(completion.target_namespace.as_deref(), Some("n999"));
        assert_eq!(completion.patches.iter().map(|texts| texts.len()).sum::<usize>(), 1);
    }
}
