//! Directories and files that a program or a command in documentation applies, or that a program names exactly.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::indirect_files::TALOS_MANIFESTS;
use super::shell::{ProgramLine, SimpleCommand, is_end_of_path, program_lines, simple_commands};
use crate::kustomize::is_yaml;
use crate::text::{File, Index, folder_of, join};

/// The extensions of further files that name the directories of clusters: infrastructure code, and documentation.
const EXTENSIONS: [&str; 6] = ["bicep", "go", "json", "md", "mdx", "ts"];
/// The extensions of infrastructure code, which may pass a directory to a module in another file.
const OF_INFRASTRUCTURE: [&str; 3] = ["bicep", "hcl", "tf"];
/// The extensions of programs and templates of clouds, which may create the objects of Flux.
const OF_CODE: [&str; 4] = ["go", "json", "py", "ts"];
/// The commands that create Kustomizations.
const COMMANDS: [&str; 3] = ["flux bootstrap", "flux create", "k8s-configuration flux"];
/// The program that applies manifests.
const KUBECTL: &str = "kubectl";
/// The texts of code that creates Kustomizations.
const NAMES_OF_FLUX: [&str; 2] = ["fluxConfigurations", "fluxcd"];

/// Parts of the texts that may name a path, one of each group above and of a command of kubectl. Most files contain none.
static MARKS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let marks = COMMANDS.iter().chain(&TALOS_MANIFESTS).chain(&NAMES_OF_FLUX).chain([&KUBECTL]);
    let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(marks);
    finder.expect("the marks are few and short")
});

/// Returns whether a file that is not a program may name the directories of clusters.
pub(super) fn may_name_folders(path: &str) -> bool {
    EXTENSIONS.contains(&extension(path))
}

/// The paths among `wanted` that files apply or name, each with the first file. A path is a directory or a manifest.
pub(super) fn named_paths(files: impl Iterator<Item = File>, wanted: &BTreeSet<&str>) -> BTreeMap<String, String> {
    let mut by_end: Index<&str, Vec<&str>> = Index::default();
    for path in wanted.iter().filter(|path| !path.is_empty()) {
        ends(path).for_each(|end| by_end.entry_or(end, Vec::new).push(path));
    }
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for file in files {
        let mut add = |path: &str| {
            found.entry(path.to_owned()).or_insert_with(|| file.path().to_owned());
        };
        for word in words(&file) {
            if word.text.starts_with("//") {
                // The address of a file of this repository.
                ends(word.text).filter(|end| wanted.contains(end)).for_each(&mut add);
                continue;
            }
            let path = known_part(word.text);
            if let Some(directory) = word.directory {
                // The author starts in the root of the repository, or beside the file.
                let starts = ["", folder_of(file.path())];
                let paths = starts.into_iter().filter_map(|start| join(&join(start, directory)?, word.text));
                paths.filter(|path| wanted.contains(&**path)).for_each(|path| add(&path));
                continue;
            }
            if word.is_applied && path == "." {
                Some(folder_of(file.path())).filter(|folder| wanted.contains(folder)).into_iter().for_each(&mut add);
            }
            if word.is_of_any && is_yaml(path) {
                by_end.get(path).into_iter().flatten().for_each(|file| add(file));
            }
            // Nearly no word ends a wanted path.
            let Some(all) = by_end.get(path) else { continue };
            let beside = join(folder_of(file.path()), path);
            let is_meant = |folder: &&str| {
                let is_exact = path.contains('/') && *folder == path;
                let is_end = word.is_applied && path.contains('/');
                is_exact || is_end || (word.is_applied && beside.as_deref() == Some(*folder))
            };
            all.iter().copied().filter(is_meant).for_each(&mut add);
        }
    }
    found
}

/// Returns whether a comment of a file contains a command that applies the file.
pub(super) fn applies_itself(file: &File) -> bool {
    let name = file.path().rsplit('/').next().unwrap_or_default();
    let comments = file.text().lines().map(str::trim).filter(|line| line.starts_with('#') && line.contains(name));
    let mut commands = comments.filter(|line| is_apply(line) || line.contains("kubectl create"));
    commands.any(|line| line.split(is_end_of_path).any(|word| word.rsplit('/').next() == Some(name)))
}

/// A path and its ends, from each of its directories on.
fn ends(path: &str) -> impl Iterator<Item = &str> {
    std::iter::once(path).chain(path.match_indices('/').filter_map(|(at, _)| path.get(at + 1..)))
}

fn is_apply(line: &str) -> bool {
    line.contains(KUBECTL) && line.contains("apply")
}

/// A word of a file that may be a path.
struct Word<'a> {
    text: &'a str,
    /// Whether the word is an argument of `kubectl apply`.
    is_applied: bool,
    /// Whether a placeholder for any directory precedes the word.
    is_of_any: bool,
    /// The directory to which a command before the word changes.
    directory: Option<&'a str>,
}

/// The words of a file that may be paths which a cluster applies.
fn words(file: &File) -> Vec<Word<'_>> {
    let text = file.text();
    let extension = extension(file.path());
    let is_documentation = matches!(extension, "md" | "mdx");
    let is_infrastructure = OF_INFRASTRUCTURE.contains(&extension);
    if !is_infrastructure && !MARKS.is_match(text) {
        return Vec::new();
    }
    let creates = COMMANDS.iter().any(|command| text.contains(command))
        || (OF_CODE.contains(&extension) && NAMES_OF_FLUX.iter().any(|name| text.contains(name)));
    let is_machine = TALOS_MANIFESTS.iter().any(|field| text.contains(field));
    if !(is_infrastructure || creates || is_apply(text) || is_machine) {
        return Vec::new();
    }
    let (mut in_block, mut directory) = (false, None);
    let mut words = Vec::new();
    for ProgramLine { text: line, is_printed, .. } in program_lines(text) {
        if is_documentation && (line.starts_with("```") || line.starts_with("~~~")) {
            in_block = !in_block;
            directory = None;
        }
        if is_documentation && in_block {
            let changed = line.split("&&").filter_map(|command| command.trim().strip_prefix("cd "));
            // A relative path back, a home or a variable leads to an unknown directory.
            let known = |path: &&str| !path.starts_with(['.', '-', '~', '/', '$']) || path.starts_with("./");
            directory = changed.map(|path| Some(path.trim()).filter(known)).last().unwrap_or(directory);
        }
        let is_applied = is_apply(line);
        let is_sentence = is_documentation && !in_block;
        let may_name = is_infrastructure || is_machine || creates;
        // Most lines contain no such word.
        if is_printed || line.starts_with("//") || !(is_applied || (may_name && !is_sentence)) {
            continue;
        }
        if simple_commands(line).all(SimpleCommand::is_printed) {
            continue;
        }
        if is_sentence {
            // A sentence may warn of a command.
            let is_warning = ["do not", "don't", "never", "instead of"]
                .iter()
                .any(|words| line.to_ascii_lowercase().contains(words));
            let commands = line.split('`').skip(1).step_by(2);
            let commands = commands.filter(|command| !is_warning && is_apply(command));
            let of_commands = commands.flat_map(|command| command.split(is_end_of_path));
            let of_commands = of_commands.filter(|text| !text.is_empty());
            words.extend(of_commands.map(|text| Word { text, is_applied: true, is_of_any: false, directory: None }));
            continue;
        }
        let mut is_path = false;
        for text in line.split(is_end_of_path) {
            // A key, an option or a parameter: `path: X`, `--path=X`, `crd_path = X`.
            if text.is_empty() {
                continue;
            }
            let is_address = is_machine && text.starts_with("//");
            if is_applied || is_infrastructure || is_address || (creates && is_path) {
                let is_of_any = is_applied && text.starts_with('/') && line.contains(&format!(">{text}"));
                let directory = directory.filter(|_| is_applied);
                words.push(Word { text: text.trim_start_matches('<'), is_applied, is_of_any, directory });
            }
            let end = text.len().checked_sub("path".len()).and_then(|start| text.get(start..));
            // Documentation often describes the Kustomizations of a repository, so there, only the option of a command counts.
            is_path =
                end.is_some_and(|end| end.eq_ignore_ascii_case("path")) && (!is_documentation || text == "--path");
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
    path.trim_matches('/')
}

fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}
