//! Fixes: those of a case remove their findings, and add no finding of any rule, except for pedantic findings of objects that
//! were not built before.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright::base::finding::{Finding, ObjectRef, Safety, Severity};
use fleetwright::base::fingerprint::fingerprints;
use fleetwright::lint::{Options, fix, run};
use fleetwright::text::Tree;

/// Applies the fixes of a rule to a repository. Returns the safety of the fixes, and a fault of the result.
pub(super) fn check(tree: &Tree, options: &Options, rule: &str) -> (Vec<Safety>, Option<String>) {
    let fixed = fix(tree, options, Safety::Unsafe, |_| false);
    let safety: Vec<Safety> = fixed.fixed.keys().map(|(_, safety)| *safety).collect();
    let all = Options { only: Vec::new(), pedantic: true, is_ungrouped: true, ..options.clone() };
    let (before, after) = (run(tree, &all).findings, run(&fixed.tree, &all).findings);
    let known: BTreeSet<String> = fingerprints(&before).into_iter().collect();
    let is_pedantic = before.iter().all(|finding| finding.rule != rule || finding.severity == Severity::Pedantic);
    let counts = |finding: &&Finding| is_pedantic || finding.severity > Severity::Pedantic;
    let (before, after) = (
        before.iter().filter(counts).cloned().collect::<Vec<_>>(),
        after.iter().filter(counts).cloned().collect::<Vec<_>>(),
    );
    let (former, present) = (places(&before), places(&after));
    let is_new = after.iter().zip(fingerprints(&after)).any(|(finding, print)| {
        let place = place(finding);
        !known.contains(&print) && former.get(&place) < present.get(&place)
    });
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

/// The rule, the severity, the file and the object of a finding. Its message and its API version may have the new value.
type Place = (&'static str, Severity, String, [String; 4]);

fn place(finding: &Finding) -> Place {
    let identity = |object: &ObjectRef| {
        let namespace = object.namespace.as_deref().unwrap_or_default();
        [object.group(), &object.kind, namespace, &object.name].map(str::to_owned)
    };
    let path = finding.at.span.file().path().to_owned();
    (finding.rule, finding.severity, path, finding.object.as_ref().map(identity).unwrap_or_default())
}

fn places(findings: &[Finding]) -> BTreeMap<Place, usize> {
    let mut places: BTreeMap<Place, usize> = BTreeMap::new();
    for finding in findings {
        *places.entry(place(finding)).or_default() += 1;
    }
    places
}
