//! What Flux adds to objects on their way to the cluster, as far as the Kustomizations that apply a folder say it.
//!
//! An object may lack a field that its applier patches in, or a namespace that its applier gives it. Judged as written
//! it would be accused of what it need not have.

use std::collections::{BTreeMap, BTreeSet};

use crate::kube::Object;
use crate::text::normalize;
use crate::yaml::Node;

use super::is_kustomization;

/// What one Flux Kustomization does to what it applies.
#[derive(Debug, Clone)]
pub(super) struct Applier {
    /// The folder it applies, up to the first variable.
    folder: String,
    effect: Effect,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Effect {
    /// Whether that is all of its path.
    exact: bool,
    /// Its `targetNamespace`.
    target_namespace: Option<String>,
    /// Its patches as text.
    patches: String,
}

/// What is done to an object before it reaches the cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completion {
    /// The namespace that an applier puts it into.
    pub target_namespace: Option<String>,
    /// The text of the patches that are laid over it.
    patches: String,
}

impl Completion {
    /// Tells whether a patch on the way mentions a field: what the object says of it is then not the last word.
    pub fn mentions(&self, field: &str) -> bool {
        self.patches.contains(field)
    }
}

impl Applier {
    /// The applier that an object is, if it is one.
    pub(super) fn of(object: &Object) -> Option<Self> {
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
        let target_namespace = object.text_at(&["spec", "targetNamespace"]).map(ToString::to_string);
        Some(Self {
            folder: normalize(known)?,
            effect: Effect { exact: !path.contains('$'), target_namespace, patches },
        })
    }

    /// The folder that it applies.
    pub(super) fn folder(&self) -> &str {
        &self.folder
    }
}

/// Appliers by the folder that they apply. Those of many clusters do the same, so what they do is kept once, with the
/// place of the last one among all appliers.
pub(super) struct Appliers(BTreeMap<String, BTreeMap<Effect, usize>>);

impl FromIterator<Applier> for Appliers {
    fn from_iter<I: IntoIterator<Item = Applier>>(appliers: I) -> Self {
        let mut folders: BTreeMap<String, BTreeMap<Effect, usize>> = BTreeMap::new();
        for (place, applier) in appliers.into_iter().enumerate() {
            folders.entry(applier.folder).or_default().insert(applier.effect, place);
        }
        Self(folders)
    }
}

impl Appliers {
    /// What the appliers of a folder do, taken together.
    pub(super) fn completion(&self, folder: &str) -> Completion {
        let applied = applied_as(folder).into_iter();
        let found = applied.filter_map(|known| self.0.get_key_value(known.as_str()));
        let mut effects: Vec<(usize, &str, &Effect)> = found
            .flat_map(|(known, effects)| effects.iter().map(|(effect, place)| (*place, &**known, effect)))
            .collect();
        effects.sort_unstable();
        let mut completion = Completion::default();
        for (_, known, effect) in effects {
            // The root of a source is a folder of every repository: it says too little about which one.
            if effect.target_namespace.is_some() && effect.exact && !known.is_empty() {
                completion.target_namespace.clone_from(&effect.target_namespace);
            }
            completion.patches.push_str(&effect.patches);
        }
        completion
    }
}

/// The paths by which an applier may mean a folder or one above it. They are relative to its source, which may be any
/// folder of the tree: several repositories side by side, or an artifact made of a part of one.
fn applied_as(folder: &str) -> BTreeSet<String> {
    let segments: Vec<&str> = folder.split('/').collect();
    let mut paths = BTreeSet::from([String::new()]);
    for start in 0..segments.len() {
        for end in start + 1..=segments.len() {
            paths.extend(segments.get(start..end).map(|part| part.join("/")));
        }
    }
    paths
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

    #[test]
    fn an_applier_reaches_folders_below_its_own_wherever_its_source_begins() {
        let paths = applied_as("infra/tenants/shop");
        let expected =
            ["", "infra", "infra/tenants", "infra/tenants/shop", "shop", "tenants", "tenants/shop"].map(String::from);
        assert_eq!(paths, BTreeSet::from(expected));
        assert_eq!(applied_as(""), BTreeSet::from([String::new()]));
    }
}
