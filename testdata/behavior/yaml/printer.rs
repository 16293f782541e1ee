//! Objects as kustomize prints them, against what the real one printed.

use fleetwright::text::File;
use fleetwright::yaml::{go, parse};
use serde::Deserialize;

#[derive(Deserialize)]
struct Answers {
    answers: Vec<Answer>,
}

/// What `testdata/oracles/printer` recorded of one document; `None` where the program fails.
#[derive(Deserialize)]
struct Answer {
    document: String,
    printed: Option<String>,
}

/// What we print; `None` for what is refused.
fn ours(document: &str) -> Option<String> {
    let parsed = parse(&File::new("a.yaml", document));
    let node = &parsed.documents.first().filter(|_| parsed.findings.is_empty())?.node;
    go::refusal(node).is_none().then(|| go::print(node))
}

fn differences(answers: &str) -> Vec<String> {
    let answers: Answers = serde_json::from_str(answers).expect("the record is JSON");
    let differ = |answer: &&Answer| ours(&answer.document) != answer.printed;
    let show = |answer: &Answer| {
        format!("{:?}\nours   {:?}\ntheirs {:?}\n", answer.document, ours(&answer.document), answer.printed)
    };
    answers.answers.iter().filter(differ).map(show).collect()
}

#[test]
fn objects_are_printed_as_kustomize_prints_them() {
    let differences = differences(include_str!("../../oracles/printer/answers.json"));
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
