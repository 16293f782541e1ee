//! What one thing that is missing breaks in many places, told once.

use std::collections::BTreeMap;

use crate::base::finding::{Finding, Label};
use crate::text::Span;

/// The rules whose message names nothing but what is missing: as often as it is said, one thing sets all of it right.
const OF_ONE_CAUSE: [&str; 1] = ["dangling-values"];

/// So many of the other places are shown.
const MAX_SHOWN: usize = 3;

/// Leaves the first finding of those that say the same about different objects, with the clusters of all.
pub(crate) fn fold(findings: Vec<Finding>) -> Vec<Finding> {
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    let mut first: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let mut others: BTreeMap<usize, Vec<Span>> = BTreeMap::new();
    for mut finding in findings {
        if OF_ONE_CAUSE.contains(&finding.rule) {
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
        finding.message = format!("{}; {} places name it", finding.message, places.len() + 1);
        for place in places.into_iter().take(MAX_SHOWN) {
            finding.related.push(Label::new(place, "it is named here too"));
        }
    }
    kept
}
