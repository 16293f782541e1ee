//! Cases of fleet: a folder with a `fleet.yaml`, what it should say, and for some what comes out of it.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use fleetwright::base::finding::Finding;
use fleetwright::text::{File, Span, Tree};
use fleetwright::{config, fleet, lint};
use snapbox::{Assert, Data};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/fleet")
}

/// The files of a case, without what is expected of it.
fn tree(case: &Path) -> Tree {
    fn read(folder: &Path, prefix: &str, tree: &mut Tree) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let path = format!("{prefix}{name}");
            if entry.file_type().unwrap().is_dir() {
                read(&entry.path(), &format!("{path}/"), tree);
            } else if !matches!(path.as_str(), "expected.txt" | "resolved.json" | "explain.txt") {
                tree.insert(File::decode(path, fs::read(entry.path()).unwrap()).unwrap());
            }
        }
    }
    let mut tree = Tree::default();
    read(case, "", &mut tree);
    tree
}

fn place(span: &Span) -> String {
    let position = span.position();
    format!("{}:{}:{}", span.file().path(), position.line, position.column)
}

fn said(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        writeln!(text, "{} {}[{}] {}", place(&finding.at.span), finding.severity, finding.rule, finding.message)
            .unwrap();
        if let Some(help) = &finding.help {
            writeln!(text, "    help: {help}").unwrap();
        }
        for related in &finding.related {
            writeln!(text, "    {} {}", place(&related.span), related.message).unwrap();
        }
    }
    text
}

fn cases() -> Vec<PathBuf> {
    let mut cases: Vec<PathBuf> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

#[test]
fn every_fleet_is_loaded_or_explained() {
    let assert = Assert::new().action_env("SNAPSHOTS");
    for case in cases().into_iter().filter(|case| !case.join(config::PATH).exists()) {
        let loaded = fleet::load(&tree(&case), "fleet.yaml");
        let expected = |name: &str| Data::read_from(&case.join(name), None);
        let findings = [loaded.findings.clone(), loaded.synced_inputs("")].concat();
        assert.eq(said(&findings), expected("expected.txt").raw());
        if case.join("resolved.json").exists() {
            let json = serde_json::to_string_pretty(&loaded.fleet).unwrap() + "\n";
            assert.eq(json, expected("resolved.json").raw());
        }
        if case.join("explain.txt").exists() {
            let lines = fleet::explain(&loaded).into_iter();
            let lines = lines.map(|line| format!("{} {} = {} ({})\n", line.subject, line.field, line.value, line.from));
            assert.eq(lines.collect::<String>(), expected("explain.txt").raw());
        }
    }
}

#[test]
fn every_configuration_is_loaded_or_explained() {
    let assert = Assert::new().action_env("SNAPSHOTS");
    for case in cases().into_iter().filter(|case| case.join(config::PATH).exists()) {
        let (settings, findings) = config::load(&tree(&case));
        let text = said(&findings) + &lint_text(&settings.lint) + &settings_text(&settings);
        assert.eq(text, Data::read_from(&case.join("expected.txt"), None).raw());
    }
}

/// What a configuration says of rules, paths, clusters and tenants, a line each.
fn lint_text(lint: &config::Lint) -> String {
    let mut text = String::new();
    if let Some(pedantic) = lint.pedantic {
        writeln!(text, "pedantic {pedantic}").unwrap();
    }
    for (id, at) in &lint.rules.named {
        writeln!(text, "rule {id} of line {}: {:?}", at.position().line, lint.rules.level(id)).unwrap();
    }
    if lint.rules.named.iter().any(|(id, _)| id == "duplicate-cluster-identity") {
        writeln!(text, "unique {:?}", lint.rules.duplicate_cluster_identity.keys().collect::<Vec<_>>()).unwrap();
        writeln!(text, "but {:?}", lint.rules.duplicate_cluster_identity.groups).unwrap();
    }
    for skip in &lint.skip {
        writeln!(text, "skip {} of line {}", skip.glob, skip.at.position().line).unwrap();
    }
    if !lint.production.globs.is_empty() {
        writeln!(text, "production {:?}", lint.production.globs).unwrap();
    }
    if lint.tenancy != config::Tenancy::default() {
        writeln!(text, "{:?}", lint.tenancy).unwrap();
    }
    for exception in &lint.exceptions {
        let (objects, paths) = (&exception.objects, &exception.paths);
        writeln!(text, "exception of line {}: {objects:?} {paths:?}", exception.at.position().line).unwrap();
    }
    text
}

/// What a configuration says of sources, versions and external objects, a line each.
fn settings_text(settings: &config::Settings) -> String {
    let mut text = String::new();
    if let Some(version) = settings.flux_version("") {
        writeln!(text, "flux {version}").unwrap();
    }
    for name in settings.clusters.keys() {
        writeln!(text, "cluster {name}: flux {:?}", settings.flux_version(name)).unwrap();
    }
    for config::DeclaredCopy { copy, .. } in &settings.sources {
        writeln!(text, "source {} {:?} at {}", copy.url, copy.reference, copy.path).unwrap();
    }
    for declared in &settings.external {
        let external = &declared.external;
        let (kind, line) = (external.kind.as_str(), declared.node.span().position().line);
        writeln!(
            text,
            "external {kind} {}/{} of line {line}: {:?} {:?} on {:?}",
            external.namespace, external.name, external.data, external.keys, external.clusters
        )
        .unwrap();
    }
    text
}

/// The published schemas and what they are generated from.
fn schemas() -> [(&'static str, serde_json::Value); 4] {
    [
        ("fleet", lint::with_rules(fleet::schema())),
        ("cluster", fleet::cluster_schema()),
        ("tenant", fleet::tenant_schema()),
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
        assert_eq!(said(&loaded.findings), "");
        assert_eq!(loaded.fleet.unwrap().clusters.len(), clusters);
        start.elapsed()
    };
    time(10);
    let (hundred, thousand) = (time(100), time(1000));
    println!("100 clusters: {hundred:?}, 1,000 clusters: {thousand:?}");
    assert!(thousand < hundred * 25 + std::time::Duration::from_millis(500), "{hundred:?}, then {thousand:?}");
}
