//! The values of a HelmRelease: where they come from, and which are unknown.

use fleetwright::disk;
use fleetwright::flux::{Cluster, helm};
use fleetwright::kustomize::Files;
use fleetwright::schema::PartialChecker;
use fleetwright::yaml::{Node, Reader, as_kubernetes, parse, to_json};

use super::clusters::{config_map, kustomization, load, object, sync};
use super::support::{folders, helm_values, name, testdata};

#[test]
fn a_secrets_values_are_unknown_and_a_value_knows_its_line() {
    let text = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: n}\nspec:\n\
        \x20 valuesFrom:\n    - {kind: ConfigMap, name: base}\n    - {kind: Secret, name: s, valuesKey: p, targetPath: db.password}\n\
        \x20 values: {image: {tag: v2}}\n---\n\
        apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base, namespace: n}\ndata:\n  values.yaml: |\n\
        \x20   image: {repository: web, tag: v1}\n    replicas: 2\n---\n\
        apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: n}\nstringData: {p: hidden}\n";
    let values = helm_values("a.yaml", text);
    assert_eq!(values.faults, []);
    assert!(!values.open);
    let node = |keys: &[&str]| values.node.at_keys(keys).unwrap().clone();
    assert_eq!(node(&["image", "tag"]).span().position().line, 8);
    assert_eq!(node(&["image", "repository"]).span().position().line, 15);
    assert_eq!(node(&["replicas"]).span().text(), "2");
    let password = node(&["db", "password"]);
    assert!(matches!(password.value, fleetwright::yaml::Value::Scalar(_, fleetwright::yaml::Style::Unknown)));
}

const RELEASE: &str = "
## apps/release.yaml
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: flux-system}
spec:
  valuesFrom:
    - {kind: ConfigMap, name: defaults}
    - {kind: Secret, name: login, valuesKey: password, targetPath: db.password}
    - {kind: Secret, name: more, optional: true}
  values: {image: {tag: v2}}
";

fn release_values(cluster: &Cluster) -> helm::Values {
    cluster.values(&object(cluster, "HelmRelease", "web")).unwrap()
}

#[test]
fn a_release_gets_the_values_that_its_cluster_has() {
    let apps = kustomization("clusters/a/apps.yaml", "apps", "  path: apps");
    let vars = kustomization(
        "clusters/a/vars.yaml",
        "vars",
        "  path: vars\n  postBuild: {substitute: {TAG: v1, SIZE: \"2\"}}",
    );
    let defaults = config_map(
        "vars/defaults.yaml",
        "defaults",
        "\n  values.yaml: |\n    image: {repository: web, tag: \"${TAG}\"}\n    replicas: ${SIZE}",
    );
    let repo = load(&[&sync("a"), &apps, &vars, RELEASE, &defaults].concat());
    let cluster = &repo.clusters[0];
    let values = release_values(cluster);
    assert_eq!(values.faults, []);
    assert!(values.open, "what the Secret `more` holds is not known");
    let node = |keys: &[&str]| values.node.at_keys(keys).unwrap();
    assert_eq!(node(&["image", "tag"]).span().file().path(), "apps/release.yaml");
    assert_eq!((node(&["image", "repository"]).text(), node(&["replicas"]).text()), (Some("web"), Some("2")));
    assert_eq!(node(&["image", "repository"]).span().file().path(), "vars/defaults.yaml");
    assert!(cluster.values(&object(cluster, "ConfigMap", "defaults")).is_none());
}

#[test]
fn a_config_map_that_no_cluster_receives_is_a_fault_where_all_is_known() {
    let apps = kustomization("clusters/a/apps.yaml", "apps", "  path: apps");
    let repo = load(&[&sync("a"), &apps, RELEASE].concat());
    let values = release_values(&repo.clusters[0]);
    assert_eq!(values.faults.len(), 1);
    assert_eq!(values.faults[0].message, "the ConfigMap `defaults` is not defined");
    // Another cluster may have it, or the fleet of a tenant.
    let edge = kustomization("clusters/a/apps.yaml", "apps", "  path: apps\n  kubeConfig: {secretRef: {name: edge}}");
    for repo in [load(&[&sync("a"), &edge, RELEASE].concat()), load(RELEASE)] {
        let values = release_values(&repo.clusters[0]);
        assert_eq!((values.faults.len(), values.open), (0, true));
    }
    let defaults = config_map("apps/defaults.yaml", "defaults", "{values.yaml: \"a: b\"}");
    for repo in [load(&[&sync("a"), &edge, RELEASE, &defaults].concat()), load(&[RELEASE, &defaults].concat())] {
        assert_eq!(release_values(&repo.clusters[0]).node.get("a").and_then(|a| a.text()), Some("b"));
    }
}

/// Returns whether the values of a chart and of its subcharts match their schemas; `None` if a schema is too complex for
/// a check.
fn are_valid(chart: &helm::Chart, values: &Node) -> Option<bool> {
    let mut is_valid = true;
    if let Some(schema) = &chart.schema {
        let checked = PartialChecker::new(schema.text(), "invalid-values")
            .and_then(|it| it.check(values, false, &mut u64::MAX.clone()));
        is_valid = checked.ok()?.is_empty();
    }
    for own in &chart.subcharts {
        if let Some(values) = values.get(&own.chart.name) {
            is_valid &= are_valid(&own.chart, values)?;
        }
    }
    Some(is_valid)
}

/// A value with all numbers as floats, as Helm reads them.
fn as_floats(value: &serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Number(number) => serde_json::json!(number.as_f64()),
        serde_json::Value::Array(items) => items.iter().map(as_floats).collect(),
        serde_json::Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), as_floats(value))).collect()
        }
        other => other.clone(),
    }
}

#[test]
fn values_and_schemas_of_charts_agree_with_helm() {
    let recorded = std::fs::read_to_string(testdata("oracles/helm-values/answers.json")).unwrap();
    let recorded: serde_json::Value = serde_json::from_str(&recorded).unwrap();
    let (mut differences, mut unchecked) = (Vec::new(), Vec::new());
    for case in folders(&testdata("oracles/helm-values/cases")) {
        let files = Files::read(&disk::read(&case.join("chart")).unwrap(), |_| true);
        let chart = helm::Chart::read(&files, "", None).unwrap_or_else(|| panic!("{}: no chart", case.display()));
        let text = std::fs::read_to_string(case.join("values.yaml")).unwrap();
        let parsed = parse(&fleetwright::text::File::new("values.yaml", text));
        let empty = parse(&fleetwright::text::File::new("values.yaml", "{}"));
        let document = parsed.documents.first().unwrap_or(&empty.documents[0]);
        let (values, valid) = match helm::coalesce(&chart, &as_kubernetes(&document.node)) {
            Ok((chart, values)) => (to_json(&values, Reader::Kustomize), are_valid(&chart, &values)),
            Err(_) => (serde_json::Value::Null, Some(false)),
        };
        let answer = &recorded[name(&case)];
        if valid.is_none() {
            unchecked.push(name(&case));
        }
        if as_floats(&values) != as_floats(&answer["values"]) || valid.is_some_and(|valid| valid != answer["valid"]) {
            let (helm, is_valid) = (&answer["values"], &answer["valid"]);
            differences.push(format!("{}: {values} {valid:?}, Helm: {helm} {is_valid}", name(&case)));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    // References to anchors in a schema may be expensive to follow.
    assert_eq!(unchecked, ["anchors"]);
}
