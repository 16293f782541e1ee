//! The kustomization files of a repository, and their references.

use std::collections::{BTreeMap, BTreeSet};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::flux::classify::{is_of_scaffold, objects};
use crate::flux::object::kinds::is_kustomization;
use crate::kube::groups;
use crate::kustomize::{FILE_NAMES, Files, References, file_in, is_yaml, references_of};
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

/// A kustomization, or a document of a file with patches that a kustomization names.
#[derive(Debug, Clone)]
pub struct PatchDocument {
    /// The document.
    pub node: Node,
    /// Whether the document is a patch, and each kustomization gives it a target.
    pub has_target: bool,
}

/// The kustomizations, and the documents of the files with patches that they name.
pub(crate) fn patches(files: &Files, kustomizations: &[KustomizationFile]) -> Vec<PatchDocument> {
    // The paths, and whether each reference to a path has a target.
    let mut paths: BTreeMap<String, bool> = BTreeMap::new();
    for one in kustomizations {
        let Some(parsed) = files.get(one.file.path()) else { continue };
        paths.insert(one.file.path().to_owned(), false);
        let Some(document) = parsed.documents.first() else { continue };
        let items = |field: &str| document.node.get(field).map_or(&[][..], Node::items).iter();
        let patches = items("patches").chain(items("patchesJson6902"));
        let named =
            patches.filter_map(|patch| Some((patch.get("path")?, patch.get("target").is_some_and(Node::is_map))));
        let named = named.chain(items("patchesStrategicMerge").map(|path| (path, false)));
        for (path, has_target) in named {
            if let Some(path) = path.text().and_then(|path| join(&one.folder, path.trim())) {
                *paths.entry(path).or_insert(true) &= has_target;
            }
        }
    }
    let parsed = paths.iter().filter_map(|(path, has_target)| Some((files.get(path)?, *has_target)));
    let documents = parsed.flat_map(|(parsed, has_target)| {
        let nodes = parsed.documents.iter().map(|document| document.node.clone());
        nodes.map(|node| PatchDocument { node, has_target }).collect::<Vec<_>>()
    });
    documents.collect()
}

/// The directories that the Flux Kustomizations in files of Components apply, relative to the root of the repository.
pub(crate) fn paths_of_components(files: &Files, kustomizations: &[KustomizationFile]) -> BTreeSet<String> {
    let components = kustomizations.iter().filter(|one| one.is_component);
    let listed = components.flat_map(|one| &one.references.included).filter_map(|path| files.get(path));
    let paths = listed.flat_map(|parsed| {
        let kustomizations = objects(&parsed).filter(is_kustomization);
        kustomizations.filter_map(|object| normalize(object.text_at(&["spec", "path"])?)).collect::<Vec<_>>()
    });
    paths.filter(|path| !path.is_empty()).collect()
}

fn kind_of(parsed: &Parsed) -> Option<&str> {
    parsed.documents.first()?.node.get("kind")?.text()
}

impl KustomizationFile {
    /// The paths in comments: entries of lists that are commented out, such as `# - ./web`, and the names of files in
    /// prose.
    pub(crate) fn parked(&self) -> impl Iterator<Item = String> {
        let paths = self.file.text().lines().filter_map(comment).flat_map(|text| {
            let item = text.strip_prefix("- ").map(str::trim_start);
            let item = item.map(|item| item.strip_prefix("path:").unwrap_or(item)).or(text.strip_prefix("path:"));
            let is_between = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';' | ':' | '(' | ')');
            let named = text.split(is_between).map(|word| word.trim_end_matches('.')).filter(|word| is_yaml(word));
            item.and_then(value).into_iter().chain(quoted_item(text)).chain(named)
        });
        paths.filter_map(|path| join(&self.folder, path)).filter(|path| *path != self.folder)
    }
}

/// The comment of a line, without the spaces before it.
fn comment(line: &str) -> Option<&str> {
    let start = line.trim_start();
    let text = start.strip_prefix('#').or_else(|| start.split_once(" #").map(|(_, text)| text))?;
    Some(text.trim_start_matches(['#', ' ']))
}

/// The entry of a list in brackets, such as `"./web",`.
fn quoted_item(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let text = text.strip_suffix(',').unwrap_or(text);
    ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote)).filter(|text| !text.is_empty())
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
