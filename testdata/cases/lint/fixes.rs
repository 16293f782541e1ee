//! Fixes: those of a case remove their findings, and add no finding of any rule.

use std::collections::BTreeMap;

use fleetwright::base::finding::{Finding, ObjectRef, Safety, Severity};
use fleetwright::lint::{Options, fix, run};
use fleetwright::text::Tree;

/// Applies the fixes of a rule to a repository. Returns the safety of the fixes, and a fault of the result.
pub(super) fn check(tree: &Tree, options: &Options, rule: &str) -> (Vec<Safety>, Option<String>) {
    let fixed = fix(tree, options, Safety::Unsafe, |_| false);
    let safety: Vec<Safety> = fixed.fixed.keys().map(|(_, safety)| *safety).collect();
    let all = Options { only: Vec::new(), pedantic: true, is_ungrouped: true, ..options.clone() };
    let (before, after) = (run(tree, &all).findings, run(&fixed.tree, &all).findings);
    let known = places(&before);
    let is_new = places(&after).iter().any(|(place, count)| known.get(place).is_none_or(|known| known < count));
    let others = fixed.fixed.keys().any(|(other, _)| *other != rule);
    let is_changed = |path: &str| fixed.texts.contains_key(path);
    let is_elsewhere = tree.files().any(|file| {
        !is_changed(file.path())
            && fixed.tree.file(file.path()).map(|file| file.text().to_owned()) != Ok(file.text().to_owned())
    });
    let fault = if is_new {
        Some("the fixes add a finding".to_owned())
    } else if after.len() > before.len() || !safety.is_empty() && after.len() == before.len() {
        Some("the fixes do not remove their findings".to_owned())
    } else if others || is_elsewhere {
        Some("the fixes change something else".to_owned())
    } else {
        None
    };
    (safety, fault)
}

/// The rule, the severity, the file and the object of a finding. Its message may have the new value.
type Place = (&'static str, Severity, String, Option<ObjectRef>);

fn places(findings: &[Finding]) -> BTreeMap<Place, usize> {
    let mut places: BTreeMap<Place, usize> = BTreeMap::new();
    for finding in findings {
        let path = finding.at.span.file().path().to_owned();
        *places.entry((finding.rule, finding.severity, path, finding.object.clone())).or_default() += 1;
    }
    places
}
