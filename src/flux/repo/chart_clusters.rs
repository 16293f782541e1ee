//! Clusters of a repository that a template of a Helm chart defines.

use std::collections::BTreeSet;

use crate::flux::classify::is_chart_template;
use crate::flux::object::kustomization_path::clamp;
use crate::kube::groups;
use crate::text::{Tree, is_inside};

/// The directories that the Flux objects in templates of Helm charts apply.
///
/// The linter does not render the charts, so it does not find these clusters. A directory outside of these ones may be left
/// over, although the repository has no other cluster.
#[derive(Debug, Clone, Default)]
pub struct ChartClusters {
    /// The literal beginnings of the paths. A path without a literal beginning may be any directory.
    folders: BTreeSet<String>,
}

impl ChartClusters {
    /// Reads the templates of a tree. `charts` are the directories of the charts.
    pub(super) fn of(tree: &Tree, charts: &BTreeSet<String>) -> Self {
        let templates = tree.entries().map(|(path, _)| path).filter(|path| is_chart_template(path, charts));
        let texts = templates.filter_map(|path| tree.file(path).ok()).filter(|file| is_of_flux(file.text()));
        Self { folders: texts.flat_map(|file| paths(file.text()).collect::<Vec<String>>()).collect() }
    }

    /// Returns whether the clusters exist, and do not apply a directory.
    pub fn leave_out(&self, folder: &str) -> bool {
        !self.folders.is_empty() && !self.folders.iter().any(|applied| is_inside(folder, applied))
    }
}

/// Returns whether a template contains a Flux Kustomization or a FluxInstance.
fn is_of_flux(text: &str) -> bool {
    text.contains(&format!("{}/", groups::KUSTOMIZE)) || text.contains("kind: FluxInstance")
}

/// The directories in the fields `path` of a template.
fn paths(text: &str) -> impl Iterator<Item = String> {
    let values = text.lines().filter_map(|line| line.trim_start().strip_prefix("path:"));
    values.map(|value| {
        let value = value.trim().trim_matches(['"', '\'']);
        // An action of the template may be a part of a name, so only the directories before it are certain.
        let literal = value
            .split_once("{{")
            .map_or(value, |(before, _)| before.rsplit_once('/').map_or("", |(folder, _)| folder));
        clamp(literal)
    })
}
