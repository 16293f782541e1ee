//! Rules: a small tree for each fault and each pattern that must stay silent, and the examples of each rule's page.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fleetwright::base::date::Date;
use fleetwright::base::finding::Safety;
use fleetwright::config;
use fleetwright::flux::{Governance, Settings};
use fleetwright::lint::{Options, Outcome as Findings, RULES, Rule, run};
use fleetwright::text::{File, Tree};
use libtest_mimic::Trial;

use self::document::{Document, bootstrap};
use crate::support::{entries, folders, lines, name, testdata, tree_of};
use crate::{Outcome, compare, difference, overwrites, trials as trials_of};

mod accepted;
mod document;
mod fixes;
mod since;

/// A case of a rule is a Markdown file or a directory; a third kind is the rule's page.
pub(crate) fn trials() -> Vec<Trial> {
    let root = testdata("lint");
    let cases: Vec<PathBuf> = folders(&root).iter().flat_map(|rule| entries(rule)).collect();
    let mut trials =
        trials_of("lint", &root, cases, |case| if case.is_dir() { check_folder(case) } else { check_document(case) });
    let page = |rule: &'static Rule| {
        Trial::test(format!("lint::{}/page", rule.id), move || {
            check_page(rule);
            Ok(())
        })
    };
    trials.extend(RULES.iter().map(page));
    let fixes = |rule: &'static Rule| {
        Trial::test(format!("lint::{}/fixes", rule.id), move || {
            check_fixes(rule);
            Ok(())
        })
    };
    trials.extend(RULES.iter().map(fixes));
    let since = |rule: &'static Rule| {
        Trial::test(format!("lint::{}/since", rule.id), move || {
            check_since(rule);
            Ok(())
        })
    };
    trials.extend(RULES.iter().map(since));
    let accepted = |rule: &'static Rule| {
        Trial::test(format!("lint::{}/accepted", rule.id), move || {
            check_accepted(rule);
            Ok(())
        })
    };
    trials.extend(RULES.iter().map(accepted));
    trials
}

fn judge(tree: &Tree, rule: &str) -> Findings {
    run(tree, &options(tree, rule))
}

fn options(tree: &Tree, rule: &str) -> Options {
    let (config, mistakes) = config::load(tree);
    assert!(mistakes.is_empty(), "{}", lines(&mistakes));
    let lint = config.lint.clone();
    let settings = Settings { config, ..Settings::default() };
    let governance = if tree.has_file("fleet.yaml") { Governance::Fleet } else { Governance::None };
    let today = Date::parse("2026-11-23");
    let only = vec![rule.into()];
    Options { only, pedantic: true, lint, settings, governance, today, ..Options::default() }
}

/// The rule that a case belongs to.
fn rule_of(case: &Path) -> String {
    name(case.parent().unwrap())
}

/// A tree, which may have a `.fleetwright.yaml`, and `expected.txt`: the findings of its rule, one a line.
fn check_folder(case: &Path) -> Outcome {
    let mut tree = tree_of(case);
    tree.remove("expected.txt");
    let findings = judge(&tree, &rule_of(case));
    let mut report = lines(&findings.findings);
    if findings.excepted > 0 {
        writeln!(report, "{} excepted", findings.excepted).unwrap();
    }
    compare(report, &case.join("expected.txt"))
}

/// The fixes of a rule in all of its cases: their safety is that of the rule's page.
fn check_fixes(rule: &Rule) {
    let (mut all, mut faults) = (BTreeSet::new(), Vec::new());
    for case in entries(&testdata("lint").join(rule.id)) {
        let tree = if case.is_dir() { tree_of(&case) } else { Document::read(&case).tree() };
        let (fixes, fault) = fixes::check(&tree, &options(&tree, rule.id), rule.id);
        all.extend(fixes);
        faults.extend(fault.into_iter().map(|fault| format!("{}: {fault}", name(&case))));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let all: Vec<Safety> = all.into_iter().collect();
    assert_eq!(all, rule.fixes, "the safety of the fixes of {}", rule.id);
}

/// The findings that changes of the first case of a rule introduce.
fn check_since(rule: &Rule) {
    let cases = entries(&testdata("lint").join(rule.id));
    let Some(case) = cases.first() else { return };
    let tree = if case.is_dir() { tree_of(case) } else { Document::read(case).tree() };
    if let Some(fault) = since::check(&tree, &options(&tree, rule.id)) {
        panic!("{}: {fault}", name(case));
    }
}

/// Exceptions and baselines that accept single faults of the cases of a rule.
fn check_accepted(rule: &Rule) {
    for case in entries(&testdata("lint").join(rule.id)) {
        let tree = if case.is_dir() { tree_of(&case) } else { Document::read(&case).tree() };
        if let Some(fault) = accepted::check(&tree, &options(&tree, rule.id)) {
            panic!("{}: {fault}", name(&case));
        }
    }
}

/// A Markdown file, whose findings show the clusters that they concern, and related places.
fn check_document(case: &Path) -> Outcome {
    let document = Document::read(case);
    let found = told(&judge(&document.tree(), &rule_of(case)));
    if found == document.expected() {
        return Ok(());
    }
    if overwrites() {
        return Ok(std::fs::write(case, document.with(&found))?);
    }
    Err(format!("{}:\n{}", case.display(), difference(document.expected(), &found)).into())
}

/// Findings with their clusters and related places, what was excepted, and what could not be judged.
fn told(outcome: &Findings) -> String {
    let mut told = String::new();
    for finding in &outcome.findings {
        told.push_str(lines(std::slice::from_ref(finding)).trim_end());
        if !finding.clusters.is_empty() {
            write!(told, " ({})", finding.clusters.join(", ")).unwrap();
        }
        told.push('\n');
        for label in finding.all_related() {
            let place = label.span.position();
            let path = label.span.file().path();
            writeln!(told, "    {path}:{}:{} {}", place.line, place.column, label.message).unwrap();
        }
    }
    if outcome.excepted > 0 {
        writeln!(told, "{} excepted", outcome.excepted).unwrap();
    }
    for (why, count) in &outcome.unchecked {
        writeln!(told, "cannot be checked: {why} ({count})").unwrap();
    }
    told
}

/// The fenced YAML below a heading of a rule's page.
fn example(rule: &Rule, heading: &str) -> String {
    let page = rule.page();
    let (_, rest) = page.split_once(&format!("## {heading}\n")).unwrap_or_else(|| panic!("{}: no {heading}", rule.id));
    let (_, rest) = rest.split_once("```yaml\n").unwrap_or_else(|| panic!("{}: no example", rule.id));
    rest.split_once("```").unwrap().0.to_string()
}

/// An example as a repository: a kustomization alone in a folder, anything else on a cluster. A line `# PATH` begins a
/// file of that path in the cluster's folder, and one with a slash before it a file of the repository.
fn tree_with(example: &str) -> Tree {
    if example.contains("kustomize.config.k8s.io/") && !example.contains("toolkit.fluxcd.io/") {
        return [File::new("kustomization.yaml", example)].into_iter().collect();
    }
    let mut files: Vec<(String, String)> = vec![("example.yaml".into(), String::new())];
    for line in example.lines() {
        match line.strip_prefix("# ").filter(|path| is_path(path)) {
            Some(path) => files.push((path.into(), String::new())),
            None => files.last_mut().unwrap().1.extend([line, "\n"]),
        }
    }
    let files = files.into_iter().filter(|(_, text)| !text.is_empty());
    let home = |path: &str| path.strip_prefix('/').map_or_else(|| format!("clusters/example/{path}"), str::to_owned);
    let mut tree: Tree = files.map(|(path, text)| File::new(home(&path), text)).collect();
    bootstrap(&mut tree);
    tree
}

fn is_path(comment: &str) -> bool {
    Path::new(comment).extension().is_some_and(|end| end == "yaml" || end == "json") && !comment.contains(' ')
}

/// The bad example of a page has findings and the good one has none. Only its own rule runs, since other rules report what
/// an example leaves out: sources, namespaces, directories.
fn check_page(rule: &Rule) {
    let found = |heading| {
        let mut found = judge(&tree_with(&example(rule, heading)), rule.id).findings;
        found.retain(|finding| !finding.at.span.file().path().ends_with("gotk-sync.yaml"));
        found
    };
    assert!(!found("Bad").is_empty(), "the bad example has no finding");
    let good = found("Good");
    assert!(good.is_empty(), "the good example: {}", lines(&good));
}
