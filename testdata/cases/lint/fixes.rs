//! Fixes: for each fix of a case, the edits remove the finding, add no finding of any rule, and keep every other byte.

use fleetwright::base::finding::Finding;
use fleetwright::base::fingerprint::fingerprints;
use fleetwright::lint::{Options, Outcome, run};
use fleetwright::text::{Edit, File, Tree, apply};

use crate::support::lines;

/// The faults of the fixes of a rule in a repository, and the number of fixes.
pub(super) fn check(tree: &Tree, options: &Options, rule: &str) -> (usize, Vec<String>) {
    let options = Options { only: Vec::new(), pedantic: true, is_ungrouped: true, ..options.clone() };
    let before: Outcome = run(tree, &options);
    let known = fingerprints(&before.findings);
    let of_rule = || before.findings.iter().filter(|finding| finding.rule == rule && !finding.fixes.is_empty());
    let (mut faults, mut count) = (Vec::new(), 0);
    for finding in of_rule() {
        let [fix] = finding.fixes.as_slice() else {
            faults.push(format!("{} has several fixes", told(finding)));
            continue;
        };
        count += 1;
        let mut after = tree.clone();
        for path in fix.edits.iter().map(|edit| edit.span.file().path()) {
            let edits: Vec<Edit> = fix.edits.iter().filter(|edit| edit.span.file().path() == path).cloned().collect();
            let Some(text) = apply(tree.file(path).unwrap().text(), &edits) else {
                faults.push(format!("{}: the edits overlap", told(finding)));
                continue;
            };
            after.insert(File::new(path, text));
        }
        let now = run(&after, &options).findings;
        let prints = fingerprints(&now);
        let new: Vec<String> =
            now.iter().zip(&prints).filter(|(_, print)| !known.contains(print)).map(|(new, _)| told(new)).collect();
        if !new.is_empty() {
            faults.push(format!("the fix of {} adds {}", told(finding), new.join("; ")));
        } else if now.len() >= before.findings.len() {
            faults.push(format!("the fix does not remove {}", told(finding)));
        }
    }
    (count, faults)
}

fn told(finding: &Finding) -> String {
    lines(std::slice::from_ref(finding)).trim_end().to_owned()
}
