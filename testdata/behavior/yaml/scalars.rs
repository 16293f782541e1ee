//! Scalars, against what the real readers answered.

use fleetwright::text::File;
use fleetwright::yaml::{Reader, parse, to_json};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Answers {
    answers: Vec<Answer>,
}

/// What `testdata/oracles/scalars` recorded of one scalar.
#[derive(Deserialize)]
struct Answer {
    scalar: String,
    kubernetes: Both,
    kustomize: Both,
}

/// The mappings that `v: SCALAR` and `SCALAR: v` become, as JSON; absent when the reader refuses them.
#[derive(Deserialize)]
struct Both {
    value: Option<String>,
    key: Option<String>,
}

fn answers() -> Vec<Answer> {
    let answers: Answers =
        serde_json::from_str(include_str!("../../oracles/scalars/answers.json")).expect("the record is JSON");
    answers.answers
}

/// What we make of a document; `None` when it is refused or has a number that JSON has not.
fn ours(text: &str, reader: Reader) -> Option<Value> {
    let parsed = parse(&File::new("a.yaml", text));
    let node = &parsed.documents.first().filter(|_| parsed.findings.is_empty())?.node;
    let endless = |scalar| matches!(scalar, fleetwright::yaml::Scalar::Float(float) if !float.is_finite());
    let refused = node.entries().iter().any(|entry| entry.node.resolve(reader).is_some_and(endless));
    (!refused).then(|| to_json(node, reader))
}

/// Numbers that no double holds exactly are printed with different digits.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        (Value::Number(a), Value::Number(b)) if a != b => a.is_f64() != b.is_f64() && a.as_f64() == b.as_f64(),
        _ => a == b,
    }
}

fn differences(reader: Reader, recorded: fn(&Answer) -> &Both, excused: &[&str]) -> Vec<String> {
    let mut differences = Vec::new();
    for answer in &answers() {
        let texts = [format!("v: {}\n", answer.scalar), format!("? {}\n: v\n", answer.scalar)];
        let recorded = recorded(answer);
        for (text, expected) in texts.iter().zip([&recorded.value, &recorded.key]) {
            let expected: Option<Value> =
                expected.as_ref().map(|json| serde_json::from_str(json).expect("so are its answers"));
            let ours = ours(text, reader);
            let agree = match (&ours, &expected) {
                (Some(ours), Some(expected)) => same(ours, expected),
                (None, None) => true,
                _ => false,
            };
            if agree == excused.contains(&text.trim_end()) {
                let said = |json: Option<Value>| json.map_or("refused".to_string(), |json| json.to_string());
                differences.push(format!("{text:?}: ours {}, theirs {}", said(ours), said(expected)));
            }
        }
    }
    differences
}

#[test]
fn scalars_are_what_kubernetes_makes_of_them() {
    let excused = [
        // JSON has no key that is a number of 64 bits without a sign; we write its digits.
        "? 9223372036854775808\n: v",
        "? 18446744073709551615\n: v",
        "? 0xFFFFFFFFFFFFFFFF\n: v",
        // A key does not keep its tag.
        "? !!str yes\n: v",
        "? !local yes\n: v",
        "? ! yes\n: v",
        // kustomize refuses these.
        "v: !!bool yes",
        "? !!bool yes\n: v",
        "v: !!bool \"yes\"",
        "? !!bool \"yes\"\n: v",
    ];
    let differences = differences(Reader::Kubernetes, |answer| &answer.kubernetes, &excused);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn scalars_are_what_kustomize_makes_of_them() {
    let excused = [
        // kustomize drops an entry whose key is null; we report it, as Kubernetes' reader does.
        "? ~\n: v",
        "? null\n: v",
        "? Null\n: v",
        "? NULL\n: v",
        "? !!null null\n: v",
        "? !!null \"\"\n: v",
        "? !!null\n: v",
        // A scalar with one of these tags is a string to Kubernetes.
        "v: !!timestamp 2001-01-01",
        "v: !!timestamp \"2001-01-01\"",
        "v: ! 5",
    ];
    let differences = differences(Reader::Kustomize, |answer| &answer.kustomize, &excused);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn the_core_schema_differs_where_go_keeps_yaml_1_1() {
    let mut differing: Vec<String> = answers()
        .into_iter()
        .filter(|answer| {
            let theirs = answer.kustomize.value.as_ref().map(|json| serde_json::from_str::<Value>(json).unwrap());
            let ours = ours(&format!("v: {}\n", answer.scalar), Reader::Core);
            !ours.zip(theirs).is_none_or(|(ours, theirs)| same(&ours, &theirs))
        })
        .map(|answer| answer.scalar)
        .collect();
    differing.sort();
    let expected = [
        // Octal, binary and signed hexadecimal numbers as Go writes them.
        "!!int 0775",
        // A string to Kubernetes too.
        "! 5",
        // Dates.
        "!!timestamp \"2001-01-01\"",
        "!!timestamp 2001-01-01",
        "2001-01-01",
        "2001-1-1",
        "2001-12-14t21:59:43.10-05:00",
        "2001-12-15 2:59:43.10",
        "+0775",
        "+0b11",
        "+0o17",
        "+0x1F",
        "-0775",
        "-0b11",
        "-0o17",
        "-0x1F",
        "0775",
        "0777",
        "0B11",
        "0O17",
        "0X1f",
        "0b11",
        // Underscores in numbers.
        ".1_0",
        "0_",
        "0x_1F",
        "1_",
        "1_0e1_0",
        "1_000",
        "1_000.5",
        "1__0",
        "685.230_15e+03",
        // Numbers of more than 64 bits.
        "+9223372036854775808",
        "0777777777777777777777",
        "0x10000000000000000",
    ];
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(differing, expected);
}
