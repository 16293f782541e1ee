//! Grouping of findings with a single cause.

use std::collections::BTreeMap;

use crate::base::finding::{Finding, Label};
use crate::text::Span;

/// The rules whose message contains the cause only: one fix removes all findings with the same message.
const RULES_WITH_ONE_CAUSE: [&str; 1] = ["dangling-values"];

/// The maximum number of further places that are shown.
const MAX_SHOWN: usize = 3;

/// Keeps the first of the findings with the same message, with the clusters of all of them.
pub(super) fn group_by_cause(findings: Vec<Finding>) -> Vec<Finding> {
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    let mut first: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let mut others: BTreeMap<usize, Vec<Span>> = BTreeMap::new();
    for mut finding in findings {
        if RULES_WITH_ONE_CAUSE.contains(&finding.rule) {
            let at = *first.entry((finding.rule, finding.message.clone())).or_insert(kept.len());
            if let Some(known) = kept.get_mut(at) {
                known.clusters.append(&mut finding.clusters);
                others.entry(at).or_default().push(finding.at.span);
                continue;
            }
        }
        kept.push(finding);
    }
    for (at, places) in others {
        let finding = &mut kept[at];
        finding.clusters.sort();
        finding.clusters.dedup();
        finding.message = format!("{}; {} places reference it", finding.message, places.len() + 1);
        for place in places.into_iter().take(MAX_SHOWN) {
            finding.related.push(Label::new(place, "also referenced here"));
        }
    }
    kept
}
