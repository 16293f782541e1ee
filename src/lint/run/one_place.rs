//! Findings at one position that have one cause.

use std::collections::{BTreeMap, BTreeSet};

use arcstr::ArcStr;

use super::options::PLAINTEXT_SECRET;
use crate::base::finding::{FaultKind, Finding, Severity};
use crate::kustomize::FAILED_BUILD;
use crate::text::Span;

/// The id of the rule for objects that their schema rejects.
const SCHEMA_MISMATCH: &str = "schema-mismatch";

/// The rules whose findings include those about the schema of a field.
const INCLUDING: [&str; 2] = [FAILED_BUILD, "invalid-object"];

/// The maximum number of clusters that a help lists.
const MAX_NAMED: usize = 2;

/// A file, its root and a range.
type Place = (String, String, usize, usize);

/// Keeps one finding for each private value, and for each field with which a build fails.
pub(super) fn join_at_one_place(findings: &mut Vec<Finding>) {
    follow_builds(findings);
    join_private_values(findings);
}

/// Joins the findings of a fault that is more severe on some clusters than on others, such as an undefined variable on
/// clusters with different versions of Flux: one change corrects all of them. The findings are sorted.
pub(super) fn join_severities(findings: &mut Vec<Finding>) {
    let mut lesser: BTreeSet<ArcStr> = BTreeSet::new();
    let mut joined: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings.drain(..) {
        match joined.last_mut() {
            Some(known) if is_lesser(&finding, known) => {
                let is_shown = finding.severity > Severity::Pedantic;
                lesser.extend(finding.clusters.into_iter().filter(|name| is_shown && !known.clusters.contains(name)));
                if known.fix != finding.fix {
                    known.fix = None;
                }
            }
            _ => {
                if let Some(known) = joined.last_mut() {
                    name_lesser(known, &std::mem::take(&mut lesser));
                }
                joined.push(finding);
            }
        }
    }
    if let Some(known) = joined.last_mut() {
        name_lesser(known, &lesser);
    }
    *findings = joined;
}

/// Returns whether a finding is the same fault as another one, on clusters where it is less severe.
fn is_lesser(finding: &Finding, known: &Finding) -> bool {
    finding.rule == known.rule
        && finding.severity < known.severity
        && finding.message == known.message
        && !finding.clusters.is_empty()
        && !known.clusters.is_empty()
        && finding.at.span == known.at.span
}

/// Adds the clusters on which a fault is less severe to the help.
fn name_lesser(finding: &mut Finding, clusters: &BTreeSet<ArcStr>) {
    let named: Vec<String> = clusters.iter().take(MAX_NAMED).map(|name| format!("`{name}`")).collect();
    let on = match (clusters.len(), named.as_slice()) {
        (0, _) => return,
        (1, [only]) => format!("cluster {only}"),
        (2, [first, second]) => format!("clusters {first} and {second}"),
        (count, _) => format!("clusters {} and {} more", named.join(", "), count - named.len()),
    };
    let help = finding.help.take().map(|help| format!("{help}; ")).unwrap_or_default();
    finding.help = Some(format!("{help}on {on}, it is less severe"));
}

/// The file, root and range of a finding.
fn place(finding: &Finding) -> Place {
    place_of(&finding.at.span)
}

fn place_of(span: &Span) -> Place {
    let root = span.file().root().map(ToString::to_string).unwrap_or_default();
    (root, span.file().path().to_owned(), span.range().start, span.range().end)
}

/// Removes the findings about the schema of a field with which a build fails, or which leaves an object invalid.
fn follow_builds(findings: &mut Vec<Finding>) {
    let wrong: BTreeSet<_> = findings.iter().filter(|one| one.rule == SCHEMA_MISMATCH).map(place).collect();
    let mut failed: BTreeSet<Place> = BTreeSet::new();
    for finding in findings.iter_mut().filter(|one| INCLUDING.contains(&one.rule)) {
        let parts = finding.parts().iter().map(|part| place_of(&part.span));
        let places: BTreeSet<Place> = parts.chain([place(finding)]).filter(|place| wrong.contains(place)).collect();
        finding.followers += places.len();
        failed.extend(places);
    }
    findings.retain(|one| one.rule != SCHEMA_MISMATCH || !failed.contains(&place(one)));
}

fn is_of_variable(finding: &Finding) -> bool {
    finding.kind == Some(FaultKind::ValueOfVariable)
}

/// Joins the findings of a private value that several objects contain because of a variable.
fn join_private_values(findings: &mut Vec<Finding>) {
    let mut first: BTreeMap<Place, usize> = BTreeMap::new();
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
