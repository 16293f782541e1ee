//! Fleets and configurations: a directory with a `fleet.yaml` or a `.fleetwright.yaml`, the findings in it, and for some
//! what it resolves to.

use std::fmt::Write as _;
use std::path::Path;

use fleetwright::base::finding::Finding;
use fleetwright::text::{Span, Tree};
use fleetwright::{config, fleet};
use libtest_mimic::Trial;

use crate::support::{entries, testdata, tree_of};
use crate::{Outcome, compare, trials as trials_of};

pub(crate) fn trials() -> Vec<Trial> {
    let root = testdata("fleet");
    trials_of("fleet", &root, entries(&root), |case| {
        if case.join(config::PATH).exists() { check_config(case) } else { check_fleet(case) }
    })
}

/// The files of a case, without what is expected of it.
fn tree(case: &Path) -> Tree {
    let mut tree = tree_of(case);
    for path in ["expected.txt", "resolved.json", "explain.txt"] {
        tree.remove(path);
    }
    tree
}

fn check_fleet(case: &Path) -> Outcome {
    let loaded = fleet::load(&tree(case), "fleet.yaml");
    let findings = [loaded.findings.clone(), loaded.synced_inputs("")].concat();
    compare(said(&findings), &case.join("expected.txt"))?;
    let resolved = case.join("resolved.json");
    if resolved.exists() {
        compare(serde_json::to_string_pretty(&loaded.fleet).unwrap() + "\n", &resolved)?;
    }
    let explained = case.join("explain.txt");
    if explained.exists() {
        let lines = fleet::explain(&loaded).into_iter();
        let lines = lines.map(|line| format!("{} {} = {} ({})\n", line.subject, line.field, line.value, line.from));
        compare(lines.collect(), &explained)?;
    }
    Ok(())
}

fn check_config(case: &Path) -> Outcome {
    let (settings, findings) = config::load(&tree(case));
    let text = said(&findings) + &lint_text(&settings.lint) + &settings_text(&settings);
    compare(text, &case.join("expected.txt"))
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
