//! Comparison of artifacts with the recorded answers of source-controller.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::ignore::{Ignore, Pattern, Verdict};
use super::pack::select;
use super::sparse;
use super::wildcard::matches;
use crate::kustomize::Files;
use crate::text::{File, Tree};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Questions {
    wildcards: Wildcards,
    patterns: Vec<Line>,
    paths: Vec<String>,
    archives: Vec<Archive>,
    checkout: Vec<String>,
    sparse: Vec<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Wildcards {
    patterns: Vec<String>,
    names: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Line {
    line: String,
    #[serde(default)]
    folder: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Archive {
    name: String,
    #[serde(default)]
    bucket: bool,
    ignore: Option<String>,
    files: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Answers {
    wildcards: Vec<String>,
    patterns: Vec<String>,
    /// The files of each archive.
    archives: BTreeMap<String, Vec<String>>,
    /// The directories of each archive, also those without files.
    folders: BTreeMap<String, Vec<String>>,
    sparse: Vec<Vec<String>>,
}

fn recorded() -> (Questions, Answers) {
    let questions = include_str!("../../../testdata/oracles/sourceignore/questions.json");
    let answers = include_str!("../../../testdata/oracles/sourceignore/answers.json");
    (serde_json::from_str(questions).unwrap(), serde_json::from_str(answers).unwrap())
}

#[test]
fn wildcards_match_like_those_of_go() {
    let (questions, answers) = recorded();
    let Wildcards { patterns, names } = questions.wildcards;
    assert_eq!(patterns.len(), answers.wildcards.len());
    for (pattern, expected) in patterns.iter().zip(&answers.wildcards) {
        let letter = |name: &String| match matches(pattern, name) {
            Ok(true) => 'x',
            Ok(false) => '.',
            Err(_) => '!',
        };
        assert_eq!(names.iter().map(letter).collect::<String>(), *expected, "{pattern:?} on {names:?}");
    }
}

#[test]
fn patterns_match_paths_like_the_controller() {
    let (questions, answers) = recorded();
    assert_eq!(questions.patterns.len(), answers.patterns.len());
    for (pattern, expected) in questions.patterns.iter().zip(&answers.patterns) {
        let parsed = Pattern::new(&pattern.line, &pattern.folder);
        let letter = |path: &String| match parsed.verdict(&path.split('/').collect::<Vec<_>>(), false) {
            None => '.',
            Some(Verdict::LeftOut) => '-',
            Some(Verdict::Included) => '+',
        };
        let ours: String = questions.paths.iter().map(letter).collect();
        let differing: Vec<&String> = questions
            .paths
            .iter()
            .zip(ours.chars().zip(expected.chars()))
            .filter(|(_, (a, b))| a != b)
            .map(|(path, _)| path)
            .collect();
        assert_eq!(ours, *expected, "{:?} in {:?} on {differing:?}", pattern.line, pattern.folder);
    }
}

#[test]
fn artifacts_have_the_files_that_the_controller_packs() {
    let (questions, answers) = recorded();
    assert_eq!(questions.archives.len(), answers.archives.len());
    for archive in &questions.archives {
        let tree = tree(&archive.files);
        let own = archive.ignore.as_deref();
        let ignore = if archive.bucket { Ignore::of_bucket(&tree, own) } else { Ignore::of_tree(&tree, own) };
        let paths = tree.entries().map(|(path, _)| path);
        let kept: Vec<&str> = paths.filter(|path| !tree.is_link(path) && !ignore.leaves_out(path)).collect();
        assert_eq!(kept, answers.archives[&archive.name], "{}", archive.name);
        if !archive.bucket {
            let packed = select(&Files::read(&tree, |_| true), &ignore);
            // The artifact may have the file of a directory that it does not have.
            let folders = answers.folders[&archive.name].iter();
            let without_files: Vec<&String> =
                folders.filter(|folder| !packed.files.tree().has_folder(folder)).collect();
            assert_eq!(packed.emptied.iter().collect::<Vec<_>>(), without_files, "the directories of {}", archive.name);
        }
    }
}

#[test]
fn sparse_checkouts_have_the_files_of_the_controller() {
    let (questions, answers) = recorded();
    assert_eq!(questions.sparse.len(), answers.sparse.len());
    for (folders, expected) in questions.sparse.iter().zip(&answers.sparse) {
        let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
        let mut kept: Vec<&String> = questions.checkout.iter().filter(|path| sparse::has(&folders, path)).collect();
        kept.sort();
        assert_eq!(kept, expected.iter().collect::<Vec<_>>(), "{folders:?}");
    }
}

/// A tree as `disk` reads it: `disk` follows links to files, but not links to directories.
fn tree(files: &BTreeMap<String, String>) -> Tree {
    let mut tree = Tree::default();
    for (path, text) in files {
        let Some(target) = text.strip_prefix("-> ") else {
            tree.insert(File::new(path.as_str(), written(text)));
            continue;
        };
        let target = crate::text::join(crate::text::folder_of(path), target).unwrap();
        if let Some(text) = files.get(&target) {
            tree.insert(File::new(path.as_str(), written(text)));
        }
        tree.mark_link(path);
    }
    tree
}

fn written(text: &str) -> String {
    match text.strip_prefix('(').and_then(|rest| rest.split_once(" long)")) {
        Some((length, rest)) => "x".repeat(length.parse().unwrap()) + rest,
        None => text.to_owned(),
    }
}
