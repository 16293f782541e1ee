//! The values of a HelmRelease, against what helm-controller's own library merges.

use fleetwright::flux::{ApplierKind, Producers, helm};
use fleetwright::kube::Object;
use fleetwright::text::File;
use fleetwright::yaml::{Reader, parse, to_json};
use serde_json::Value;

fn merged(name: &str, text: &str) -> helm::Values {
    let parsed = parse(&File::new(name, text));
    assert!(parsed.findings.is_empty(), "{name}: {:?}", parsed.findings);
    let objects: Vec<Object> =
        parsed.documents.iter().filter_map(|document| Object::new(document.node.clone())).collect();
    let mut producers = Producers::default();
    for object in &objects {
        producers.take(object, ApplierKind::Kustomization);
    }
    let known = |kind: &str, namespace: &str, name: &str| {
        let is = |object: &&Object| object.kind() == kind && object.name() == name;
        objects.iter().find(|object| is(object) && object.namespace() == Some(namespace)).cloned()
    };
    let release = objects.iter().find(|object| object.kind() == "HelmRelease").unwrap();
    helm::values(release, |kind, name| producers.find(kind, "n", name, &known))
}

#[test]
fn values_are_merged_as_helm_controller_merges_them() {
    let answers: Value = serde_json::from_str(include_str!("../oracles/helm/answers.json")).unwrap();
    let mut differences = Vec::new();
    for (name, theirs) in answers["values"].as_object().unwrap() {
        let path = format!("{}/testdata/oracles/helm/releases/{name}", env!("CARGO_MANIFEST_DIR"));
        let ours = merged(name, &std::fs::read_to_string(path).unwrap());
        let json = if ours.faults.is_empty() { to_json(&ours.node, Reader::Kubernetes) } else { Value::Null };
        if json != *theirs {
            differences.push(format!("{name}\n  ours   {json} {:?}\n  theirs {theirs}", ours.faults));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn a_secrets_values_are_unknown_and_a_value_knows_its_line() {
    let text = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: n}\nspec:\n\
        \x20 valuesFrom:\n    - {kind: ConfigMap, name: base}\n    - {kind: Secret, name: s, valuesKey: p, targetPath: db.password}\n\
        \x20 values: {image: {tag: v2}}\n---\n\
        apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base, namespace: n}\ndata:\n  values.yaml: |\n\
        \x20   image: {repository: web, tag: v1}\n    replicas: 2\n---\n\
        apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: n}\nstringData: {p: hidden}\n";
    let values = merged("a.yaml", text);
    assert_eq!(values.faults, []);
    assert!(!values.open);
    let node = |keys: &[&str]| values.node.at_keys(keys).unwrap().clone();
    assert_eq!(node(&["image", "tag"]).span().position().line, 8);
    assert_eq!(node(&["image", "repository"]).span().position().line, 15);
    assert_eq!(node(&["replicas"]).span().text(), "2");
    let password = node(&["db", "password"]);
    assert!(matches!(password.value, fleetwright::yaml::Value::Scalar(_, fleetwright::yaml::Style::Unknown)));
}
