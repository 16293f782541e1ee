//! Accepted findings: an exception or a baseline accepts a finding only if it accepts all faults that the finding reports.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleetwright::base::finding::Finding;
use fleetwright::config::Exception;
use fleetwright::lint::{Baseline, BaselineUse, Options, run};
use fleetwright::text::{Span, Tree};
use serde_json::Value;

/// The maximum number of faults of a repository that are accepted one by one.
const FAULTS: usize = 6;

/// Accepts the findings of a repository one by one. Returns a fault.
pub(super) fn check(tree: &Tree, options: &Options) -> Option<String> {
    let options = Options { pedantic: true, is_ungrouped: true, ..options.clone() };
    let found = run(tree, &options).findings;
    found.iter().find_map(|finding| check_lines(tree, &options, finding)).or_else(|| check_entries(tree, &options))
}

/// Excepts the line of each fault of a finding, and then all of its lines.
fn check_lines(tree: &Tree, options: &Options, finding: &Finding) -> Option<String> {
    let places: Vec<&Span> = finding.parts().iter().map(|part| &part.span).collect();
    if places.len() < 2 || places.iter().any(|place| place.file().root().is_some()) {
        return None;
    }
    let with = |places: &[&Span]| {
        let mut options = options.clone();
        options.lint.exceptions.extend(places.iter().map(|place| exception(finding, place)));
        run(tree, &options).findings
    };
    let is_at = |found: &Finding, place: &Span| {
        found.rule == finding.rule && found.parts().iter().any(|part| line(&part.span) == line(place))
    };
    for place in places.iter().take(FAULTS) {
        let found = with(&[place]);
        let others = places.iter().filter(|other| line(other) != line(place));
        for other in others {
            if !found.iter().any(|found| is_at(found, other)) {
                return Some(format!("an exception at {:?} also accepts {:?}", line(place), line(other)));
            }
        }
        if found.iter().any(|found| found.message == finding.message && is_at(found, place)) {
            return Some(format!("an exception at {:?} has no effect", line(place)));
        }
    }
    let left = with(&places);
    left.iter().any(|found| found.message == finding.message).then(|| format!("not accepted: {}", finding.message))
}

fn line(span: &Span) -> (&str, u32) {
    (span.file().path(), span.position().line)
}

fn exception(finding: &Finding, place: &Span) -> Exception {
    let range = place.file().line(place.position().line).unwrap();
    Exception {
        rule: finding.rule.into(),
        reason: "a test".into(),
        until: None,
        objects: Vec::new(),
        paths: Vec::new(),
        lines: Some(place.file().span(range)),
        at: place.clone(),
        of_layout: false,
        bearings: Arc::default(),
    }
}

/// Records the findings, and removes single entries: the findings that they record are then new.
fn check_entries(tree: &Tree, options: &Options) -> Option<String> {
    let with = |baseline| run(tree, &Options { baseline, ..options.clone() });
    let recorded = with(BaselineUse::Record(Baseline::default())).baseline.recorded.unwrap();
    let text: Value = serde_json::from_str(&recorded.write()).unwrap();
    for at in 0..recorded.len().min(FAULTS) {
        let mut less = text.clone();
        let entry = less["findings"].as_array_mut().unwrap().remove(at);
        let less = Baseline::read(&less.to_string()).unwrap();
        let outcome = with(BaselineUse::Compare(less, BTreeMap::new()));
        if outcome.findings.len() != 1 {
            return Some(format!("{} new findings without the entry {entry}", outcome.findings.len()));
        }
    }
    let left = with(BaselineUse::Compare(recorded, BTreeMap::new()));
    (!left.findings.is_empty() || !left.baseline.fixed.is_empty()).then(|| "a recorded finding is reported".to_owned())
}
