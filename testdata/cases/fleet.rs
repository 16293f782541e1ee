//! Cases of fleet: a folder with a `fleet.yaml`, what it should say, and for some what comes out of it.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use fleetwright::finding::Finding;
use fleetwright::text::{File, Span, Tree};
use fleetwright::{config, fleet};
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
        assert.eq(said(&loaded.findings), expected("expected.txt").raw());
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
        let (lint, findings) = config::load(&tree(&case));
        let text = format!("{}exceptions: {}\n", said(&findings), lint.exceptions.len());
        assert.eq(text, Data::read_from(&case.join("expected.txt"), None).raw());
    }
}
