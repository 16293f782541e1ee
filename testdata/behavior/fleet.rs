//! Fleets: the schemas of their language, and what a large one costs.

use std::fmt::Write as _;
use std::path::Path;

use fleetwright::text::{File, Tree};
use fleetwright::{config, fleet, lint};
use snapbox::{Assert, Data};

use super::support::lines;

/// The published schemas and what they are generated from.
fn schemas() -> [(&'static str, serde_json::Value); 5] {
    [
        ("fleet", lint::with_rules(fleet::schema())),
        ("cluster", fleet::cluster_schema()),
        ("tenant", fleet::tenant_schema()),
        ("layout", fleet::layout_schema()),
        ("config", lint::with_rules(config::schema())),
    ]
}

#[test]
fn published_schemas_are_current() {
    let assert = Assert::new().action_env("SNAPSHOTS");
    for (name, schema) in schemas() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schemas/{name}.schema.json"));
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        assert.eq(text, Data::read_from(&path, None).raw());
    }
}

#[test]
fn a_fleet_has_a_limit_of_clusters() {
    let clusters = |count: usize| -> String {
        (0..count).fold(String::new(), |mut text, number| {
            writeln!(text, "  - {{name: c{number}, environment: staging}}").unwrap();
            text
        })
    };
    let text = format!(
        "apiVersion: fleetwright.dev/v1alpha1\nkind: Fleet\nname: acme\nrepository: {{url: https://example.com/a, secret: a}}\n\
         environments: {{staging: {{sourceBranch: main}}}}\nclusters:\n{}",
        clusters(10_001)
    );
    let tree: Tree = [File::new("fleet.yaml", text)].into_iter().collect();
    let loaded = fleet::load(&tree, "fleet.yaml");
    let shown = lines(&loaded.findings);
    assert!(shown.contains("fleet.yaml:10007:5") && shown.contains("at most 10000 clusters"), "{shown}");
    assert_eq!((loaded.findings.len(), loaded.draft.is_none()), (1, true), "{shown}");
}

#[test]
fn every_property_has_a_description_and_an_example_that_is_valid() {
    fn visit(root: &serde_json::Value, at: &str, node: &serde_json::Value, faults: &mut Vec<String>) {
        if let Some(properties) = node.get("properties").and_then(serde_json::Value::as_object) {
            for (name, property) in properties {
                let at = format!("{at}.{name}");
                if property.get("description").is_none_or(|text| text.as_str().is_none_or(str::is_empty)) {
                    faults.push(format!("{at} has no description"));
                }
                let mut schema = property.clone();
                schema["definitions"] = root["definitions"].clone();
                let validator = jsonschema::draft7::new(&schema).unwrap();
                let examples = property.get("examples").and_then(serde_json::Value::as_array);
                if examples.is_none_or(Vec::is_empty) {
                    faults.push(format!("{at} has no example"));
                }
                let wrong = examples.into_iter().flatten().chain(property.get("default"));
                let wrong = wrong.filter(|value| !validator.is_valid(value));
                faults.extend(wrong.map(|value| format!("{at}: {value} is not valid")));
            }
        }
        let children = ["properties", "definitions", "patternProperties"].into_iter();
        for (key, child) in children.filter_map(|key| node.get(key)?.as_object()).flatten() {
            visit(root, &format!("{at}.{key}"), child, faults);
        }
        for key in ["items", "additionalProperties"] {
            if let Some(child) = node.get(key) {
                visit(root, &format!("{at}.{key}"), child, faults);
            }
        }
    }
    let mut faults = Vec::new();
    for (name, schema) in schemas() {
        visit(&schema, name, &schema, &mut faults);
        let text = schema.to_string();
        assert!(!text.contains("\"null\""), "{name} allows null");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A fleet of many clusters and tenants, as text.
fn many(clusters: usize, tenants: usize) -> Tree {
    let mut text = String::from(
        "apiVersion: fleetwright.dev/v1alpha1\nkind: Fleet\nname: many\nrepository: {url: https://example.com/fleet.git}\n\
         environments: {staging: {}, production: {sourceBranch: production}}\nclusters:\n",
    );
    for cluster in 0..clusters {
        writeln!(
            text,
            "  - name: c{cluster}\n    environment: production\n    runtimeInfo: {{DOMAIN: c{cluster}.example.com}}"
        )
        .unwrap();
    }
    text.push_str("tenants:\n");
    for tenant in 0..tenants {
        let url = format!("https://example.com/t{tenant}.git");
        writeln!(text, "  - name: t{tenant}\n    role: tenant\n    source: {{url: {url}}}\n    components:").unwrap();
        for component in 0..4 {
            writeln!(text, "      - {{name: t{tenant}-c{component}}}").unwrap();
        }
    }
    [File::new("fleet.yaml", text)].into_iter().collect()
}

#[test]
fn a_large_fleet_costs_in_proportion() {
    let time = |clusters| {
        let tree = many(clusters, 50);
        let start = std::time::Instant::now();
        let loaded = fleet::load(&tree, "fleet.yaml");
        assert_eq!(lines(&loaded.findings), "");
        assert_eq!(loaded.fleet.unwrap().clusters.len(), clusters);
        start.elapsed()
    };
    time(10);
    let (hundred, thousand) = (time(100), time(1000));
    println!("100 clusters: {hundred:?}, 1,000 clusters: {thousand:?}");
    assert!(thousand < hundred * 25 + std::time::Duration::from_millis(500), "{hundred:?}, then {thousand:?}");
}
