//! What Flux adds to objects on their way to the cluster, as far as the Kustomizations that apply a folder say it.
//!
//! An object may lack a field that its applier patches in, or a namespace that its applier gives it. Judged as written
//! it would be accused of what it need not have.

use crate::kube::Object;
use crate::text::{is_inside, normalize};
use crate::yaml::Node;

use super::is_kustomization;

/// What one Flux Kustomization does to what it applies.
#[derive(Debug, Clone)]
pub(super) struct Applier {
    /// The folder it applies, up to the first variable.
    folder: String,
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
        Some(Self { folder: normalize(known)?, exact: !path.contains('$'), target_namespace, patches })
    }

    /// Tells whether it may apply a folder. Its path is relative to its source, which may be any folder of the tree:
    /// several repositories side by side, or an artifact made of a part of one.
    fn reaches(&self, folder: &str) -> bool {
        is_inside(folder, &self.folder) || format!("/{folder}/").contains(&format!("/{}/", self.folder))
    }

    /// The folder that it applies.
    pub(super) fn folder(&self) -> &str {
        &self.folder
    }
}

/// What the appliers of a folder do, taken together.
pub(super) fn completion(folder: &str, appliers: &[Applier]) -> Completion {
    let mut completion = Completion::default();
    for applier in appliers.iter().filter(|applier| applier.reaches(folder)) {
        // The root of a source is a folder of every repository: it says too little about which one.
        if applier.target_namespace.is_some() && applier.exact && !applier.folder.is_empty() {
            completion.target_namespace.clone_from(&applier.target_namespace);
        }
        completion.patches.push_str(&applier.patches);
    }
    completion
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
