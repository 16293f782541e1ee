//! Comparison of globs and exclusions with the recorded answers of source-watcher.

use serde::Deserialize;

use super::exclude::{Exclude, Refused};
use super::globs;
use crate::text::{File, Tree};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Questions {
    files: Vec<String>,
    globs: Vec<String>,
    paths: Vec<String>,
    exclusions: Vec<String>,
}

#[derive(Deserialize)]
struct Answers {
    globs: Vec<Vec<String>>,
    exclusions: Vec<String>,
}

fn recorded() -> (Questions, Answers) {
    let questions = include_str!("../../../../testdata/oracles/artifactgenerator/questions.json");
    let answers = include_str!("../../../../testdata/oracles/artifactgenerator/answers.json");
    (serde_json::from_str(questions).unwrap(), serde_json::from_str(answers).unwrap())
}

#[test]
fn globs_match_like_those_of_go() {
    let (questions, answers) = recorded();
    let tree: Tree = questions.files.iter().map(|path| File::new(path.as_str(), "")).collect();
    assert_eq!(questions.globs.len(), answers.globs.len());
    for (glob, expected) in questions.globs.iter().zip(&answers.globs) {
        let found = globs::find(&tree, glob).unwrap_or_else(|_| vec!["refused".to_owned()]);
        assert_eq!(found, *expected, "{glob:?}");
    }
}

/// Known differences: the controller matches a `**` at the start of an alternative even in the middle of a name.
const STARS_IN_ALTERNATIVES: &[&str] = &["a{**/b,c}", "a/{**,x}"];

#[test]
fn exclusions_match_like_those_of_the_controller() {
    let (questions, answers) = recorded();
    assert_eq!(questions.exclusions.len(), answers.exclusions.len());
    let mut differing = Vec::new();
    for (glob, expected) in questions.exclusions.iter().zip(&answers.exclusions) {
        let ours = match Exclude::new(std::iter::once(glob.as_str())) {
            Err(Refused::Invalid(_)) => "refused".to_owned(),
            Err(Refused::TooMany) => "too many".to_owned(),
            Ok(exclude) => questions.paths.iter().map(|path| if exclude.has_path(path) { 'x' } else { '.' }).collect(),
        };
        if ours != *expected && !STARS_IN_ALTERNATIVES.contains(&glob.as_str()) {
            let paths = questions.paths.iter().zip(ours.chars().zip(expected.chars()));
            let paths: Vec<_> = paths.filter(|(_, (a, b))| a != b).collect();
            differing.push(format!("{glob:?}: {ours} {expected} {paths:?}"));
        }
    }
    assert!(differing.is_empty(), "{differing:#?}");
}

#[test]
fn too_many_alternatives_are_rejected() {
    let glob = "{a,b}".repeat(40);
    assert_eq!(Exclude::new(std::iter::once(glob.as_str())).unwrap_err(), Refused::TooMany);
}
