//! Findings at one position that have one cause.

use std::collections::{BTreeMap, BTreeSet};

use super::options::PLAINTEXT_SECRET;
use crate::base::finding::{FaultKind, Finding};
use crate::kustomize::FAILED_BUILD;

/// The id of the rule for objects that their schema rejects.
const SCHEMA_MISMATCH: &str = "schema-mismatch";

/// The rules whose findings include those about the schema of a field.
const INCLUDING: [&str; 2] = [FAILED_BUILD, "invalid-object"];

/// Keeps one finding for each private value, and for each field with which a build fails.
pub(super) fn join_at_one_place(findings: &mut Vec<Finding>) {
    follow_builds(findings);
    join_private_values(findings);
}

/// The file, root and range of a finding.
fn place(finding: &Finding) -> (String, String, usize, usize) {
    let span = &finding.at.span;
    let root = span.file().root().map(ToString::to_string).unwrap_or_default();
    (root, span.file().path().to_owned(), span.range().start, span.range().end)
}

/// Removes the findings about the schema of a field with which a build fails, or which leaves an object invalid.
fn follow_builds(findings: &mut Vec<Finding>) {
    let wrong: BTreeSet<_> = findings.iter().filter(|one| one.rule == SCHEMA_MISMATCH).map(place).collect();
    let failed = findings.iter_mut().filter(|one| INCLUDING.contains(&one.rule)).filter_map(|one| {
        let place = place(one);
        wrong.contains(&place).then(|| one.followers += 1).map(|()| place)
    });
    let failed: BTreeSet<_> = failed.collect();
    findings.retain(|one| one.rule != SCHEMA_MISMATCH || !failed.contains(&place(one)));
}

fn is_of_variable(finding: &Finding) -> bool {
    finding.kind == Some(FaultKind::ValueOfVariable)
}

/// Joins the findings of a private value that several objects contain because of a variable.
fn join_private_values(findings: &mut Vec<Finding>) {
    let mut first: BTreeMap<(String, String, usize, usize), usize> = BTreeMap::new();
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings.drain(..) {
        if finding.rule != PLAINTEXT_SECRET {
            kept.push(finding);
            continue;
        }
        match first.get(&place(&finding)).and_then(|at| kept.get_mut(*at)) {
            Some(known) if known.object != finding.object && (is_of_variable(known) || is_of_variable(&finding)) => {
                // The finding of the object that defines the value has no variable.
                let is_better =
                    (finding.severity, !is_of_variable(&finding)) > (known.severity, !is_of_variable(known));
                let other = if is_better { std::mem::replace(known, finding) } else { finding };
                known.clusters.extend(other.clusters);
                known.clusters.sort();
                known.clusters.dedup();
                let new = other.related.into_iter().filter(|label| !known.related.contains(label));
                known.related.extend(new.collect::<Vec<_>>());
            }
            Some(_) => kept.push(finding),
            None => {
                first.insert(place(&finding), kept.len());
                kept.push(finding);
            }
        }
    }
    *findings = kept;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::File;

    #[test]
    fn a_schema_mismatch_follows_from_a_failed_build_at_its_position() {
        let file = File::new("a.yaml", "spec: text\nkind: Web\n");
        let finding = |rule, range| Finding::error(rule, file.span(range), "wrong");
        let mut findings =
            vec![finding(FAILED_BUILD, 6..10), finding(SCHEMA_MISMATCH, 6..10), finding(SCHEMA_MISMATCH, 17..20)];
        join_at_one_place(&mut findings);
        let rules: Vec<&str> = findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, [FAILED_BUILD, SCHEMA_MISMATCH]);
        assert_eq!(findings[0].followers, 1);
        let mut findings = vec![finding("invalid-object", 6..10), finding(SCHEMA_MISMATCH, 6..10)];
        join_at_one_place(&mut findings);
        assert_eq!(findings.iter().map(|finding| finding.rule).collect::<Vec<_>>(), ["invalid-object"]);
    }
}
