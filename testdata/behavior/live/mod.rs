//! The record of the real controllers: an error is confirmed by what they do, and what never becomes ready has a finding.
//!
//! `testdata/oracles/flux-live/explained.md` lists each disagreement with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use fleetwright::base::finding::{Finding, Severity};
use fleetwright::config;
use fleetwright::flux::{Governance, Settings};
use fleetwright::lint::{Options, run};
use rayon::prelude::*;

use self::record::{Answer, Case, State, cases};
use self::verdict::{Claim, claim_of};
use crate::support::testdata;

mod record;
mod verdict;

/// The number of errors of a rule by their confirmation.
#[derive(Default)]
struct Agreement {
    confirmed: usize,
    refuted: usize,
    /// The controllers that would decide do not run, or the case has no copy of the source.
    undecided: usize,
}

/// The comparison of all cases with the record.
#[derive(Default)]
struct Comparison {
    rules: BTreeMap<&'static str, Agreement>,
    /// One line for each difference.
    disagreements: BTreeSet<String>,
    /// The Kustomizations that do not become ready, and those of them that have a finding.
    unready: usize,
    found: usize,
    followed: usize,
    /// Kustomizations that never become ready and whose findings are no errors.
    mild: BTreeSet<String>,
}

/// A line that starts with `- ` is a disagreement; the heading above it is its reason.
#[test]
fn lint_agrees_with_the_controllers() {
    let found = compare().disagreements;
    let path = testdata("oracles/flux-live/explained.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let explained: BTreeSet<String> =
        text.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned).collect();
    if std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite") {
        std::fs::write(&path, updated(&text, &found, &explained)).unwrap();
        return;
    }
    let mut report = String::new();
    for line in found.difference(&explained) {
        writeln!(report, "not explained: {line}").unwrap();
    }
    for line in explained.difference(&found) {
        writeln!(report, "explained, but it agrees: {line}").unwrap();
    }
    assert!(report.is_empty(), "\n{report}");
}

/// The text without disagreements that no longer exist, and with new ones at its end, which need a reason.
fn updated(text: &str, found: &BTreeSet<String>, explained: &BTreeSet<String>) -> String {
    let remains = |line: &&str| line.strip_prefix("- ").is_none_or(|line| found.contains(line));
    let mut text: String = text.lines().filter(remains).flat_map(|line| [line, "\n"]).collect();
    for line in found.difference(explained) {
        writeln!(text, "- {line}").unwrap();
    }
    text
}

/// Prints the table: `cargo test --test behavior live::agreement -- --ignored --nocapture`.
#[test]
#[ignore = "prints a table"]
fn agreement() {
    let comparison = compare();
    println!("| rule | errors | confirmed | refuted | undecided |\n|---|---|---|---|---|");
    for (rule, Agreement { confirmed, refuted, undecided }) in &comparison.rules {
        println!("| `{rule}` | {} | {confirmed} | {refuted} | {undecided} |", confirmed + refuted + undecided);
    }
    let Comparison { unready, found, followed, .. } = comparison;
    println!("{unready} Kustomizations are not ready: {found} have a finding, {followed} wait for another one");
    for line in &comparison.disagreements {
        println!("- {line}");
    }
    println!("\nnever ready, without an error:");
    for line in &comparison.mild {
        println!("- {line}");
    }
}

fn compare() -> Comparison {
    let mut comparison = Comparison::default();
    let cases = cases();
    let findings: Vec<Vec<Finding>> = cases.par_iter().map(lint).collect();
    for (case, findings) in cases.iter().zip(&findings) {
        for (root, answer) in &case.clusters {
            if answer.failed.is_empty() {
                let of_cluster = |finding: &&Finding| case.clusters.len() == 1 || concerns(finding, root);
                let findings: Vec<&Finding> = findings.iter().filter(of_cluster).collect();
                let place = if case.clusters.len() == 1 { case.name.clone() } else { format!("{} {root}", case.name) };
                comparison.judge(&place, &findings, answer);
            }
        }
    }
    comparison
}

fn lint(case: &Case) -> Vec<Finding> {
    let tree = case.tree();
    let (config, _) = config::load(&tree);
    let lint = config.lint.clone();
    let settings = Settings { config, ..Settings::default() };
    let governance = if tree.has_file("fleet.yaml") { Governance::Fleet } else { Governance::None };
    run(&tree, &Options { pedantic: true, lint, settings, governance, ..Options::default() }).findings
}

/// Whether a finding concerns the cluster that syncs a directory.
fn concerns(finding: &Finding, root: &str) -> bool {
    let of_root =
        |cluster: &str| root.split('/').any(|part| part == cluster) || root.replace('/', "-").ends_with(cluster);
    if finding.clusters.is_empty() {
        let path = finding.at.span.file().path();
        return path.starts_with(&format!("{root}/"));
    }
    finding.clusters.iter().any(|cluster| of_root(cluster))
}

impl Comparison {
    fn judge(&mut self, place: &str, findings: &[&Finding], answer: &Answer) {
        for finding in findings {
            if finding.severity == Severity::Error {
                self.judge_error(place, finding, answer);
            }
        }
        for (name, state) in &answer.kustomizations {
            if state.is_ready() || state.is_suspended() || state.lacks_copy() {
                continue;
            }
            self.unready += 1;
            let mut about = findings.iter().filter(|finding| verdict::explains(finding, name, answer)).peekable();
            if about.peek().is_some() {
                self.found += 1;
                let rules: BTreeSet<&str> = about.clone().map(|finding| finding.rule).collect();
                if !about.any(|finding| finding.severity == Severity::Error) && !verdict::follows(state, answer) {
                    self.mild.insert(format!("{place}: {name}: {}: {rules:?}", state.reason));
                }
            } else if verdict::follows(state, answer) {
                self.followed += 1;
            } else {
                self.disagreements.insert(format!("{place}: {name} is not ready without a finding: {}", state.reason));
            }
        }
    }

    fn judge_error(&mut self, place: &str, finding: &Finding, answer: &Answer) {
        let mut about = verdict::about(finding, answer);
        if about.is_empty() {
            // The finding is at a base outside of all paths.
            about.extend(answer.kustomizations.keys().cloned());
        }
        let states: Vec<&State> = about.iter().filter_map(|name| answer.kustomizations.get(name)).collect();
        let agreement = self.rules.entry(finding.rule).or_default();
        let claim = claim_of(finding);
        // Another failure comes first, such as a source that the case omits.
        let is_masked = match claim {
            Claim::Deletes => states.iter().any(|state| state.applied_nothing()),
            Claim::LetsIn => !states.is_empty() && states.iter().all(|state| state.applied_nothing()),
            Claim::FailsOrLetsIn => !states.is_empty() && states.iter().all(|state| state.reason == "ArtifactFailed"),
            Claim::Fails | Claim::Elsewhere => false,
        };
        let lacks_copy = !states.is_empty() && states.iter().all(|state| state.lacks_copy());
        if claim == Claim::Elsewhere || is_masked || lacks_copy {
            agreement.undecided += 1;
        } else if claim.is_confirmed(finding, &about, answer) {
            agreement.confirmed += 1;
        } else {
            agreement.refuted += 1;
            let about: Vec<&str> = about.iter().map(String::as_str).collect();
            let path = finding.at.span.file().path();
            let line = finding.at.span.position().line;
            let rule = finding.rule;
            self.disagreements.insert(format!("{place}: error[{rule}] at {path}:{line} about {}", about.join(", ")));
        }
    }
}
