//! Manifests that a program applies without their paths: files that a search finds, copies of files, and files that Talos
//! downloads.

use std::collections::{BTreeMap, BTreeSet};

use super::shell::is_computed;
use crate::kustomize::is_yaml;
use crate::text::{folder_of, join};

/// The maximum number of searches of one program.
const MAX_SEARCHES: usize = 20;
/// The fields of a Talos machine configuration with the addresses of manifests that Talos applies.
pub(super) const TALOS_MANIFESTS: [&str; 2] = ["externalCloudProvider", "extraManifests"];
/// The hosts whose addresses begin with the owner and the name of a repository.
const GIT_HOSTS: [&str; 3] = ["github.com", "gitlab.com", "raw.githubusercontent.com"];

/// A search for files by name: `find DIR -name PATTERN`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileSearch {
    /// The end of the path of the directory.
    folder: String,
    /// A name with `*`.
    pattern: String,
}

impl FileSearch {
    /// Returns whether the search finds a file.
    pub(super) fn finds(&self, path: &str) -> bool {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_inside = || format!("/{folder}/").contains(&format!("/{}/", self.folder));
        matches(&self.pattern, name) && is_inside()
    }
}

/// Returns whether a name has a pattern with `*`.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        let Some(at) = name.find(part) else { return false };
        name = name.get(at + part.len()..).unwrap_or_default();
    }
    name.ends_with(end)
}

/// The searches for certain manifests in the lines of a program.
///
/// A search for all manifests usually belongs to a check, and a search in the whole repository to an encryption.
pub(super) fn searches<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeSet<FileSearch> {
    let mut found = BTreeSet::new();
    for line in lines.filter(|line| line.contains("find ") && line.contains("name ")) {
        // The variables of Taskfiles.
        let line = line.replace("{{ ", "{{").replace(" }}", "}}");
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_command = |word: &&str| word.trim_start_matches(['$', '(', '"', '`', '<']) == "find";
        let Some(at) = words.iter().position(is_command) else { continue };
        let arguments = words.get(at + 1..).unwrap_or_default();
        let folders: Vec<&str> =
            arguments.iter().copied().take_while(|word| !word.starts_with(['-', '(', '\\'])).collect();
        let values = arguments.iter().zip(arguments.iter().skip(1));
        let patterns = values.filter(|(flag, _)| matches!(**flag, "-name" | "-iname")).map(|(_, value)| *value);
        for pattern in patterns.map(|pattern| pattern.trim_matches(['"', '\'', ')', '`'])) {
            let stem = pattern.trim_end_matches(".yaml").trim_end_matches(".yml").trim_matches(['*', '.']);
            let is_literal = pattern.chars().all(|c| c.is_ascii_alphanumeric() || "-_.*".contains(c));
            if stem.is_empty() || !is_literal {
                continue;
            }
            for folder in &folders {
                let folder = end_of_folder(folder).map(ToOwned::to_owned);
                found.extend(folder.map(|folder| FileSearch { folder, pattern: pattern.to_owned() }));
            }
        }
        if found.len() >= MAX_SEARCHES {
            break;
        }
    }
    found
}

/// The end of the path of a directory after the variables.
fn end_of_folder(word: &str) -> Option<&str> {
    let word = word.trim_matches(['"', '\'']);
    let start = word
        .rfind(['$', '}', ')'])
        .map_or(0, |at| word.get(at..).and_then(|rest| rest.find('/')).map_or(word.len(), |slash| at + slash));
    let mut folder = word.get(start..)?.trim_matches('/');
    while let Some(rest) = folder.strip_prefix("./").or_else(|| folder.strip_prefix("../")) {
        folder = rest;
    }
    (!matches!(folder, "" | ".") && !is_computed(folder) && !folder.contains("..")).then_some(folder)
}

/// The files beside a program that the program copies or changes to other files, which it applies: `cp A B`, `sed … A > B`
/// or `envsubst < A > B`, and then `kubectl apply -f B`.
pub(super) fn copied_files<'a>(program: &str, lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut origins: BTreeMap<&str, &str> = BTreeMap::new();
    let mut applied = Vec::new();
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '=' | ';' | '|' | '&');
    for line in lines {
        let (command, target) = line.rsplit_once('>').map_or((line, None), |(command, target)| (command, Some(target)));
        let is_file = |word: &&str| is_yaml(word) && !is_computed(word);
        let mut files = command.split(is_end).map(|word| word.trim_start_matches('<')).filter(is_file);
        if command.contains("kubectl") && command.contains("apply") {
            let origin = |word: &str| origins.get(word.trim_start_matches("./")).copied();
            applied.extend(files.filter_map(origin).filter_map(|origin| join(folder_of(program), origin)));
            continue;
        }
        let (Some(origin), copy) = (files.next(), files.next()) else { continue };
        let is_copied = command.trim_start().starts_with("cp ");
        let target = target.map(|target| target.trim().trim_matches(['"', '\''])).filter(|target| is_file(target));
        if let Some(target) = target.or(copy.filter(|_| is_copied)) {
            origins.insert(target.trim_start_matches("./"), origin.trim_start_matches("./"));
        }
    }
    applied
}

/// The ends of the paths of the manifests that a Talos machine configuration downloads.
pub(super) fn downloaded_files(text: &str) -> Vec<String> {
    if !TALOS_MANIFESTS.iter().any(|field| text.contains(field)) {
        return Vec::new();
    }
    let addresses = text.lines().filter_map(|line| {
        let address = line.trim().strip_prefix("- ")?.trim().trim_matches(['"', '\'']);
        address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"))
    });
    let files = addresses.filter_map(|address| {
        let (host, path) = address.split_once('/')?;
        // The files of a repository on a host of public repositories have their whole path in the address.
        let is_named = is_yaml(path) && !is_computed(path) && !GIT_HOSTS.contains(&host);
        is_named.then(|| path.to_owned())
    });
    files.collect()
}

#[cfg(test)]
mod tests {
    use super::{matches, searches};

    #[test]
    fn a_pattern_matches_whole_names() {
        assert!(matches("*.sops.yaml", "cluster.sops.yaml"));
        assert!(matches("*.sops.*", "cluster.sops.yaml"));
        assert!(matches("secret-*-a.yaml", "secret-b-a.yaml"));
        assert!(!matches("*.sops.yaml", "cluster.yaml"));
        assert!(!matches("a*a", "a"));
    }

    #[test]
    fn a_search_for_all_manifests_says_nothing() {
        let found = |line: &str| searches([line].into_iter()).len();
        assert_eq!(found("find apps -type f -name '*.yaml' -print0"), 0);
        assert_eq!(found("find . -name '*.sops.yaml'"), 0);
        assert_eq!(found("for file in $(find $ROOT -name '*.sops.yaml'); do"), 0);
        assert_eq!(found("sh: find {{.DIR}}/apps {{ .DIR }}/flux -type f -name '*.sops.yaml'"), 2);
    }
}
