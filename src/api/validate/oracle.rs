//! Comparison with the recorded answers of an API server.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::api::catalog::{Catalog, Definition, Lookup, Origin, Product, Releases};
use crate::cel::Budget;
use crate::kube::Object;
use crate::kube::version::Version;
use crate::text::File;
use crate::yaml::parse;

use super::validate;

#[derive(Deserialize)]
struct Answers {
    objects: Vec<Answer>,
}

#[derive(Deserialize)]
struct Answer {
    object: String,
    #[serde(default)]
    accepted: bool,
    #[serde(default)]
    message: String,
    #[serde(default)]
    causes: Vec<Cause>,
}

#[derive(Deserialize)]
struct Cause {
    #[serde(default)]
    field: String,
}

/// The name, the setup and the objects of each case.
macro_rules! cases {
    ($($name:literal $setup:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../testdata/oracles/schemas/cases/", $setup)), include_str!(concat!(
            "../../../testdata/oracles/schemas/cases/", $name, "/objects.yaml"
        )))),*]
    };
}

const CASES: [(&str, &str, &str); 9] = cases![
    "builtin" "../explained.txt",
    "defaults" "defaults/setup.yaml",
    "flux" "../explained.txt",
    "formats" "formats/setup.yaml",
    "lists" "lists/setup.yaml",
    "metadata" "../explained.txt",
    "rules" "rules/setup.yaml",
    "status" "status/setup.yaml",
    "structure" "structure/setup.yaml",
];

/// The disagreements, each with its reason.
const EXPLAINED: &str = include_str!("../../../testdata/oracles/schemas/explained.txt");

fn objects(text: &str) -> Vec<Object> {
    parse(&File::new("case.yaml", text)).documents.into_iter().filter_map(|one| Object::new(one.node)).collect()
}

fn catalog(setup: &str) -> Catalog {
    let definitions = objects(setup).into_iter().filter_map(|object| Definition::read(&object));
    let releases = Releases { kubernetes: Version::parse("1.36.4"), flux: Version::parse("2.9.4") };
    Catalog::new(definitions, std::sync::Arc::default(), releases)
}

/// The paths of the fields in an answer, without indexes and keys.
fn fields(answer: &Answer) -> BTreeSet<String> {
    let causes = answer.causes.iter().map(|cause| cause.field.clone()).filter(|field| field != "<nil>");
    // Server-side apply names the fields in its message only.
    let typed = answer.message.split_once(" typed patch object ").map(|(_, rest)| rest);
    let typed = typed.into_iter().flat_map(|rest| rest.split([' ', '\n'])).filter(|word| word.starts_with('.'));
    let typed = typed.filter_map(|word| Some(word.strip_prefix('.')?.strip_suffix(':')?.to_owned()));
    // A combination of schemas names its field in quotes.
    let quoted = answer.message.split(r#"Invalid value: "": ""#).skip(1).filter_map(|rest| rest.split_once('"'));
    let quoted = quoted.filter(|(_, rest)| rest.starts_with(" must")).map(|(field, _)| field.to_owned());
    causes.chain(typed).chain(quoted).map(|field| plain(&field)).filter(|field| !field.is_empty()).collect()
}

/// Removes the indexes and keys in brackets.
fn plain(path: &str) -> String {
    let mut depth = 0;
    path.chars()
        .filter(|c| {
            depth += usize::from(*c == '[');
            let keep = depth == 0;
            depth -= usize::from(*c == ']' && depth > 0);
            keep
        })
        .collect()
}

/// The disagreement on one object, in words.
fn disagreement(answer: &Answer, ours: &[(String, String)]) -> Option<String> {
    let listed: Vec<String> = ours.iter().map(|(path, message)| format!("{path} {message}")).collect();
    match (answer.accepted, ours.is_empty()) {
        (true, true) => return None,
        (true, false) => return Some(format!("accepted, but {}", listed.join("; "))),
        (false, true) => return Some(format!("rejected: {}", answer.message.replace('\n', " "))),
        (false, false) => {}
    }
    let is_near = |field: &str, path: &str| {
        let path = plain(path);
        path == *field || path.starts_with(&format!("{field}.")) || field.starts_with(&format!("{path}."))
    };
    let expected = fields(answer);
    let missed: Vec<&String> =
        expected.iter().filter(|field| !ours.iter().any(|(path, _)| is_near(field, path))).collect();
    if !missed.is_empty() {
        return Some(format!("not reported: {missed:?}; reported: {}", listed.join("; ")));
    }
    // Server-side apply rejects an object before the later checks.
    let is_final = !answer.message.contains(" typed patch object ") && !expected.is_empty();
    let wrong: Vec<&(String, String)> =
        ours.iter().filter(|(path, _)| is_final && !expected.iter().any(|field| is_near(field, path))).collect();
    (!wrong.is_empty()).then(|| format!("reported in addition: {wrong:?}"))
}

#[test]
fn the_api_server_rejects_the_same_objects_at_the_same_fields() {
    let answers: BTreeMap<String, Answers> =
        serde_json::from_str(include_str!("../../../testdata/oracles/schemas/answers.json")).unwrap();
    let explained: BTreeSet<&str> =
        EXPLAINED.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split(": ").next()).collect();
    let mut found: BTreeSet<String> = BTreeSet::new();
    let mut unexplained = Vec::new();
    let mut compared = 0;
    for (case, setup, text) in CASES {
        let catalog = catalog(setup);
        let objects = objects(text);
        let answers = &answers[case].objects;
        assert_eq!(objects.len(), answers.len(), "{case}");
        for (object, answer) in objects.iter().zip(answers) {
            let version = object.api_version().rsplit('/').next().unwrap();
            let Lookup::Found(kind) = catalog.find(object.group(), version, object.kind()) else {
                assert!(!answer.accepted, "{case}: {} has no schema", answer.object);
                continue;
            };
            let is_typed = matches!(&kind.origin, Origin::BuiltIn(own) if own.product == Product::Kubernetes);
            let ours: Vec<(String, String)> =
                validate(object, &kind.schema, kind.scope, is_typed, Budget::of_request(1))
                    .into_iter()
                    .map(|mismatch| (mismatch.path, mismatch.message))
                    .collect();
            compared += 1;
            if let Some(words) = disagreement(answer, &ours) {
                let title = format!("{case} {}", answer.object);
                if !explained.contains(title.as_str()) {
                    unexplained.push(format!("{title}: {words}"));
                }
                found.insert(title);
            }
        }
    }
    assert!(unexplained.is_empty(), "{} of {compared}:\n{}", unexplained.len(), unexplained.join("\n"));
    let gone: Vec<&&str> = explained.iter().filter(|title| !found.contains(**title)).collect();
    assert!(gone.is_empty(), "no disagreement any more: {gone:?}");
}
