//! Fixes: those of a case remove their findings, and add no finding of any rule.

use std::collections::BTreeSet;

use fleetwright::base::finding::Safety;
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
    let is_new = fingerprints(&after).into_iter().any(|print| !known.contains(&print));
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
