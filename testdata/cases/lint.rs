//! Cases of lint: a small tree for each fault and each pattern that must stay silent.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fleetwright::config;
use fleetwright::flux::{Governance, Settings};
use fleetwright::lint::{Options, Outcome, RULES, Rule, run};
use fleetwright::text::{File, Tree};

use self::document::{Document, bootstrap};
use super::kustomize::{lines, tree_of};

#[path = "lint/document.rs"]
mod document;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/lint")
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn judge(tree: &Tree, rule: &str) -> Outcome {
    let (config, mistakes) = config::load(tree);
    assert!(mistakes.is_empty(), "{}", lines(&mistakes));
    let lint = config.lint.clone();
    let settings = Settings { config, ..Settings::default() };
    let governance = if tree.has_file("fleet.yaml") { Governance::Fleet } else { Governance::None };
    run(tree, &Options { only: vec![rule.into()], pedantic: true, lint, settings, governance, ..Options::default() })
}

/// A case is a tree, which may have a `.fleetwright.yaml`, and `expected.txt`: the findings of its rule, one a line.
#[test]
fn each_rule_finds_what_its_cases_say() {
    for rule in folders(&folder()) {
        for case in folders(&rule) {
            let mut tree = tree_of(&case);
            tree.remove("expected.txt");
            let outcome = judge(&tree, rule.file_name().unwrap().to_str().unwrap());
            let mut report = lines(&outcome.findings);
            if outcome.excepted > 0 {
                writeln!(report, "{} excepted", outcome.excepted).unwrap();
            }
            for exception in &outcome.unused {
                writeln!(report, "unused: {}", exception.reason).unwrap();
            }
            snapbox::assert_data_eq!(report, snapbox::Data::read_from(&case.join("expected.txt"), None));
        }
    }
}

/// A case may also be one Markdown file; its findings show the clusters that they concern, and related places.
#[test]
fn each_rule_finds_what_its_documents_say() {
    let overwrites = std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite");
    let mut wrong = String::new();
    for rule in folders(&folder()) {
        for path in documents(&rule) {
            let document = Document::read(&path);
            let outcome = judge(&document.tree(), rule.file_name().unwrap().to_str().unwrap());
            let found = told(&outcome);
            if found == document.expected() {
                continue;
            }
            if overwrites {
                std::fs::write(&path, document.with(&found)).unwrap();
            }
            let diff = similar::TextDiff::from_lines(document.expected(), &found);
            writeln!(wrong, "{}:\n{}", path.display(), diff.unified_diff().header("expected", "found")).unwrap();
        }
    }
    assert!(overwrites || wrong.is_empty(), "{wrong}");
}

fn documents(rule: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(rule).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    paths.sort();
    paths
}

/// Findings with their clusters and related places, what was excepted, and what could not be judged.
fn told(outcome: &Outcome) -> String {
    let mut told = String::new();
    for finding in &outcome.findings {
        told.push_str(lines(std::slice::from_ref(finding)).trim_end());
        if !finding.clusters.is_empty() {
            write!(told, " ({})", finding.clusters.join(", ")).unwrap();
        }
        told.push('\n');
        for label in &finding.related {
            let place = label.span.position();
            let path = label.span.file().path();
            writeln!(told, "    {path}:{}:{} {}", place.line, place.column, label.message).unwrap();
        }
    }
    if outcome.excepted > 0 {
        writeln!(told, "{} excepted", outcome.excepted).unwrap();
    }
    for exception in &outcome.unused {
        writeln!(told, "unused: {}", exception.reason).unwrap();
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
    Path::new(comment).extension().is_some_and(|end| end == "yaml") && !comment.contains(' ')
}

/// Other rules would miss what the examples do not show: sources, namespaces, folders.
#[test]
fn the_bad_example_of_a_page_is_found_and_the_good_one_is_not() {
    for rule in RULES {
        let found = |heading| {
            let mut found = judge(&tree_with(&example(rule, heading)), rule.id).findings;
            found.retain(|finding| !finding.at.span.file().path().ends_with("gotk-sync.yaml"));
            found
        };
        let bad = found("Bad");
        assert!(!bad.is_empty(), "{}: the bad example is not found", rule.id);
        let good = found("Good");
        assert!(good.is_empty(), "{}: {}", rule.id, lines(&good));
    }
}

#[test]
fn every_rule_has_a_page_and_cases_and_every_folder_a_rule() {
    let cases: Vec<String> =
        folders(&folder()).iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_string()).collect();
    let rules: Vec<String> = RULES.iter().map(|rule| rule.id.to_string()).collect();
    assert_eq!(rules, cases, "a rule is one file, one line and one folder of cases");
    let sources = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lint/rules")).unwrap();
    let mut sources: Vec<String> =
        sources.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().replace('_', "-")).collect();
    sources.retain(|source| source != "mod");
    sources.sort();
    assert_eq!(rules, sources, "every file of `rules/` has a line in `rules!`");
    for rule in RULES {
        let page = rule.page();
        for heading in ["## Why", "## How to fix it", "## Bad", "## Good", "## Source"] {
            assert!(page.contains(heading), "{}: the page has no `{heading}`", rule.id);
        }
        assert!(!rule.summary.ends_with('.'), "{}", rule.id);
        let cases = folder().join(rule.id);
        assert!(folders(&cases).len() + documents(&cases).len() > 1, "{}: too few cases", rule.id);
    }
}

/// Judges a folder outside of the repository: `TREE=path cargo test --test cases lint::judges_a_tree -- --ignored`.
#[test]
#[ignore = "judges the folder that TREE names"]
fn judges_a_tree() {
    let Ok(root) = std::env::var("TREE") else { return };
    let tree = tree_of(Path::new(&root));
    let start = std::time::Instant::now();
    let options = Options { pedantic: std::env::var("PEDANTIC").is_ok(), ..Options::default() };
    let outcome = run(&tree, &options);
    let elapsed = start.elapsed();
    print!("{}", lines(&outcome.findings));
    for finding in &outcome.findings {
        println!("  {}", finding.help.as_deref().unwrap_or_default());
    }
    println!("{} files, {} objects in {elapsed:?}", tree.len(), outcome.objects);
    println!("skipped {:?}\nnot done {:?}", outcome.skipped, outcome.not_done);
}
