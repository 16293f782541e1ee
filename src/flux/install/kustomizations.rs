//! The kustomization files of a repository, and their references.

use std::collections::BTreeSet;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::flux::classify::is_of_scaffold;
use crate::kube::groups;
use crate::kustomize::{FILE_NAMES, Files, References, file_in, references_of};
use crate::text::{File, folder_of, join, normalize};
use crate::yaml::{Node, Parsed};

/// A kustomization file.
pub(crate) struct KustomizationFile {
    /// The directory of the file.
    pub(crate) folder: String,
    pub(crate) file: File,
    pub(crate) is_component: bool,
    pub(crate) references: References,
}

/// The kustomization files of a repository, by directory, without the templates of other programs.
pub(crate) fn kustomizations(files: &Files) -> Vec<KustomizationFile> {
    let named = files.parsed().map(|(path, _)| path).filter(|path| is_kustomization_name(path));
    let folders: BTreeSet<&str> = named.map(folder_of).collect();
    let of_folder = |folder: &&str| {
        let folder = (*folder).to_owned();
        file_in(files, &folder).into_iter().filter_map(move |path| {
            let parsed = files.get(&path).filter(|parsed| !is_of_scaffold(parsed))?;
            let is_component = kind_of(&parsed) == Some("Component");
            let references = references_of(files, &path);
            Some(KustomizationFile { folder: folder.clone(), file: parsed.file.clone(), is_component, references })
        })
    };
    folders.par_iter().flat_map_iter(of_folder).collect()
}

/// Returns whether a path has one of the names of kustomization files.
pub(crate) fn is_kustomization_name(path: &str) -> bool {
    FILE_NAMES.contains(&path.rsplit('/').next().unwrap_or(path))
}

/// The nodes of the kustomizations, and of the files with patches that they name.
pub(crate) fn patches(files: &Files, kustomizations: &[KustomizationFile]) -> Vec<Node> {
    let mut paths: BTreeSet<String> = BTreeSet::new();
    for one in kustomizations {
        let Some(parsed) = files.get(one.file.path()) else { continue };
        paths.insert(one.file.path().to_owned());
        let Some(document) = parsed.documents.first() else { continue };
        let items = |field: &str| document.node.get(field).map_or(&[][..], Node::items).to_vec();
        let patches = items("patches").into_iter().chain(items("patchesJson6902"));
        let named = patches.filter_map(|patch| patch.get("path").cloned()).chain(items("patchesStrategicMerge"));
        let named = named.filter_map(|path| join(&one.folder, path.text()?.trim()));
        paths.extend(named);
    }
    let parsed = paths.iter().filter_map(|path| files.get(path));
    parsed
        .flat_map(|parsed| parsed.documents.iter().map(|document| document.node.clone()).collect::<Vec<_>>())
        .collect()
}

fn kind_of(parsed: &Parsed) -> Option<&str> {
    parsed.documents.first()?.node.get("kind")?.text()
}

impl KustomizationFile {
    /// The paths in commented-out lines, such as `# - ./web`.
    pub(crate) fn parked(&self) -> impl Iterator<Item = String> {
        let comments = self.file.text().lines().filter_map(|line| line.trim_start().strip_prefix('#'));
        let items = comments.filter_map(|comment| {
            let text = comment.trim_start_matches(['#', ' ']);
            let item = text.strip_prefix("- ").map(str::trim_start);
            item.map(|item| item.strip_prefix("path:").unwrap_or(item)).or_else(|| text.strip_prefix("path:"))
        });
        let paths = items.filter_map(|item| join(&self.folder, value(item)?));
        paths.filter(|path| *path != self.folder)
    }
}

/// The paths of Flux Kustomizations in commented-out lines, relative to the root of the repository.
pub(crate) fn parked_paths(files: &Files) -> BTreeSet<String> {
    let texts = files.parsed().map(|(_, parsed)| parsed.file.text());
    let lines = texts.filter(|text| text.contains(groups::KUSTOMIZE)).flat_map(str::lines);
    let comments = lines.filter_map(|line| line.trim_start().strip_prefix('#'));
    let paths = comments.filter_map(|comment| comment.trim_start_matches(['#', ' ']).strip_prefix("path:"));
    paths.filter_map(|path| normalize(value(path)?)).filter(|path| !path.is_empty()).collect()
}

/// The value in a commented-out line, without quotes or a further comment.
fn value(text: &str) -> Option<&str> {
    Some(text.split(" #").next()?.trim().trim_matches(['"', '\'']))
}
