//! Directories that a program or a command in documentation applies, or that a program names exactly.

use std::collections::{BTreeMap, BTreeSet};

use super::shell::{SimpleCommand, is_end_of_path, program_lines, simple_commands};
use crate::text::{File, Index, folder_of, join};

/// The extensions of further files that name the directories of clusters: infrastructure code, and documentation.
const EXTENSIONS: [&str; 6] = ["bicep", "go", "json", "md", "mdx", "ts"];
/// The extensions of infrastructure code, which may pass a directory to a module in another file.
const OF_INFRASTRUCTURE: [&str; 3] = ["bicep", "hcl", "tf"];
/// The extensions of programs and templates of clouds, which may create the objects of Flux.
const OF_CODE: [&str; 4] = ["go", "json", "py", "ts"];
/// The commands that create Kustomizations.
const COMMANDS: [&str; 3] = ["flux bootstrap", "flux create", "k8s-configuration flux"];
/// The texts of code that creates Kustomizations.
const NAMES_OF_FLUX: [&str; 2] = ["fluxConfigurations", "fluxcd"];

/// Returns whether a file that is not a program may name the directories of clusters.
pub(super) fn may_name_folders(path: &str) -> bool {
    EXTENSIONS.contains(&extension(path))
}

/// The directories among `folders` that files apply or name, each with the first file.
pub(super) fn named_folders(files: impl Iterator<Item = File>, folders: &BTreeSet<&str>) -> BTreeMap<String, String> {
    let mut by_end: Index<&str, Vec<&str>> = Index::default();
    for folder in folders.iter().filter(|folder| !folder.is_empty()) {
        let ends = folder.match_indices('/').filter_map(|(at, _)| folder.get(at + 1..));
        std::iter::once(*folder).chain(ends).for_each(|end| by_end.entry_or(end, Vec::new).push(folder));
    }
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for file in files {
        let mut add = |folder: &str| {
            found.entry(folder.to_owned()).or_insert_with(|| file.path().to_owned());
        };
        for word in words(&file) {
            let path = known_part(word.text);
            let all = by_end.get(path).into_iter().flatten().copied();
            let beside = join(folder_of(file.path()), path);
            let is_meant = |folder: &&str| {
                let is_exact = path.contains('/') && *folder == path;
                let is_end = word.is_applied && path.contains('/');
                is_exact || is_end || (word.is_applied && beside.as_deref() == Some(*folder))
            };
            all.filter(is_meant).for_each(&mut add);
        }
    }
    found
}

/// A word of a file that may be a directory.
struct Word<'a> {
    text: &'a str,
    /// Whether the word is an argument of `kubectl apply`.
    is_applied: bool,
}

/// The words of a file that may be directories which a cluster applies.
fn words(file: &File) -> Vec<Word<'_>> {
    let text = file.text();
    let extension = extension(file.path());
    let is_documentation = matches!(extension, "md" | "mdx");
    let is_infrastructure = OF_INFRASTRUCTURE.contains(&extension);
    let creates = COMMANDS.iter().any(|command| text.contains(command))
        || (OF_CODE.contains(&extension) && NAMES_OF_FLUX.iter().any(|name| text.contains(name)));
    let applies = text.contains("kubectl") && text.contains("apply");
    if !(is_infrastructure || creates || applies) {
        return Vec::new();
    }
    let mut in_block = false;
    let mut words = Vec::new();
    for (line, is_printed) in program_lines(text) {
        if is_documentation && (line.starts_with("```") || line.starts_with("~~~")) {
            in_block = !in_block;
        }
        let is_text = is_printed || simple_commands(line).all(SimpleCommand::is_printed);
        if is_text || (is_documentation && !in_block) || line.starts_with("//") {
            continue;
        }
        let is_applied = line.contains("kubectl") && line.contains("apply");
        let mut is_path = false;
        for text in line.split(is_end_of_path) {
            // A key, an option or a parameter: `path: X`, `--path=X`, `crd_path = X`.
            if text.is_empty() {
                continue;
            }
            if is_applied || is_infrastructure || (creates && is_path && !is_documentation) {
                words.push(Word { text, is_applied });
            }
            is_path = text.to_ascii_lowercase().ends_with("path");
        }
    }
    words
}

/// The part of a path after variables and `..`, which usually contain the root of the repository.
fn known_part(word: &str) -> &str {
    let start = word.rfind(['$', '}', '~']).and_then(|at| word.get(at..)?.find('/').map(|slash| at + slash + 1));
    let mut path = word.get(start.unwrap_or(0)..).unwrap_or_default();
    while let Some(rest) = path.strip_prefix("./").or_else(|| path.strip_prefix("../")) {
        path = rest;
    }
    path.trim_end_matches('/')
}

fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}
