//! ResourceSets, against what Go's templates with the operator's functions make of them, and where their nodes stand.

use std::collections::BTreeMap;

use fleetwright::flux::{Expansion, expand, is_input_provider, is_resource_set};
use fleetwright::kube::Object;
use fleetwright::text::File;
use fleetwright::yaml::{Reader, parse, to_json};
use serde_json::Value;

fn expansion(name: &str, text: &str) -> Expansion {
    let parsed = parse(&File::new(name, text));
    assert!(parsed.findings.is_empty(), "{name}: {:?}", parsed.findings);
    let objects: Vec<Object> =
        parsed.documents.iter().filter_map(|document| Object::new(document.node.clone())).collect();
    let providers: Vec<Object> = objects.iter().filter(|object| is_input_provider(object)).cloned().collect();
    expand(objects.iter().find(|object| is_resource_set(object)).unwrap(), &providers)
}

#[test]
fn every_set_makes_what_the_operator_makes() {
    let answers: Value = serde_json::from_str(include_str!("../oracles/resourceset/answers.json")).unwrap();
    let answers: BTreeMap<String, Value> = serde_json::from_value(answers["sets"].clone()).unwrap();
    assert!(answers.len() > 10);
    let mut differences = Vec::new();
    for (name, theirs) in answers {
        let path = format!("{}/testdata/oracles/resourceset/sets/{name}", env!("CARGO_MANIFEST_DIR"));
        let ours = expansion(&name, &std::fs::read_to_string(path).unwrap());
        assert_eq!(ours.not_expanded, None, "{name}");
        assert_eq!(ours.findings.is_empty(), !theirs.is_null(), "{name}: {:?}", ours.findings);
        let empty = Vec::new();
        let theirs = theirs.as_array().unwrap_or(&empty);
        let made: Vec<Value> = ours.objects.iter().map(|object| to_json(&object.node, Reader::Kustomize)).collect();
        assert_eq!(made.len(), theirs.len(), "{name}");
        let pairs = made.iter().zip(theirs).filter(|(ours, theirs)| ours != theirs);
        differences.extend(pairs.map(|(ours, theirs)| format!("{name}\n  ours   {ours}\n  theirs {theirs}")));
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
