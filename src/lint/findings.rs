//! The result of a check: findings, and the number of undecided facts.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;

use arcstr::ArcStr;

use super::further::Further;
use crate::base::finding::Finding;
use crate::flux::Cluster;
use crate::text::Index;

/// The number of findings from which equal findings are removed when the list is full.
const MANY: usize = 256;

/// The maximum number of different findings of a rule that a list holds. It only counts more of them.
pub(super) const MAX_OF_RULE: usize = 50_000;

/// The findings of a check, and the number of facts that the check could not decide.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_field_names, reason = "the findings are the main part of the result of a check")]
pub struct Findings {
    /// The findings.
    pub(super) findings: Vec<Finding>,
    /// The number of facts that the check could not decide, by reason.
    pub(super) unchecked: BTreeMap<String, usize>,
    /// The findings that are only counted.
    pub(super) further: Further,
    /// The rules whose further findings are only counted.
    full: BTreeSet<&'static str>,
    /// The number of findings when the full rules were last determined.
    checked: usize,
}

impl Findings {
    /// Adds a finding.
    pub fn push(&mut self, finding: Finding) {
        self.push_within(finding, MAX_OF_RULE);
    }

    /// Adds a finding, or counts it if the list has `max` other findings of the rule.
    fn push_within(&mut self, finding: Finding, max: usize) {
        let is_full = self.findings.len() == self.findings.capacity();
        if is_full && self.findings.len() >= MANY {
            self.remove_repeated();
        }
        // The findings of clusters that are alike are different only after the repeated ones are removed.
        if self.findings.len() >= self.checked.saturating_add(2 * max) {
            self.remove_repeated();
            let mut of_rules: BTreeMap<&'static str, usize> = BTreeMap::new();
            self.findings.iter().for_each(|finding| *of_rules.entry(finding.rule).or_default() += 1);
            self.full.extend(of_rules.into_iter().filter(|(_, count)| *count >= max).map(|(rule, _)| rule));
            self.checked = self.findings.len();
        }
        if self.full.contains(finding.rule) {
            self.further.add(finding);
        } else {
            self.findings.push(finding);
        }
    }

    /// Removes findings that are equal to an earlier finding, which gets their clusters.
    ///
    /// `n` Kustomizations of one directory may apply `n` objects each from the same positions, on `n` clusters.
    fn remove_repeated(&mut self) {
        let mut first: Index<_, usize> = Index::default();
        let mut earlier: Vec<usize> = Vec::with_capacity(self.findings.len());
        for (at, finding) in self.findings.iter().enumerate() {
            let key = (finding.at.span.order(), finding.rule, &finding.message, finding.clusters.is_empty());
            earlier.push(*first.entry_or(key, || at));
        }
        drop(first);
        let mut are_new: Vec<bool> = Vec::with_capacity(self.findings.len());
        for (at, earlier) in earlier.into_iter().enumerate() {
            let Some((before, [finding, ..])) = self.findings.split_at_mut_checked(at) else { break };
            let Some(earlier) = before.get_mut(earlier) else {
                are_new.push(true);
                continue;
            };
            let (clusters, mut all) = (take(&mut finding.clusters), take(&mut earlier.clusters));
            let is_same = *earlier == *finding;
            if is_same {
                all.extend(clusters.into_iter().filter(|cluster| all.last() != Some(cluster)).collect::<Vec<_>>());
            } else {
                finding.clusters = clusters;
            }
            earlier.clusters = all;
            are_new.push(!is_same);
        }
        let mut are_new = are_new.into_iter();
        self.findings.retain(|_| are_new.next() == Some(true));
        for finding in &mut self.findings {
            finding.clusters.sort();
            finding.clusters.dedup();
        }
    }

    /// Counts a fact that the check cannot decide, with the reason, such as the rights of a role that a chart contains.
    pub fn unchecked(&mut self, reason: impl Into<String>) {
        *self.unchecked.entry(reason.into()).or_default() += 1;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.findings.is_empty() && self.unchecked.is_empty() && self.further.is_empty()
    }

    /// Returns whether an undecided fact depends on the name or the directory of a cluster.
    pub(super) fn mentions(&self, Cluster { name, folder, .. }: &Cluster) -> bool {
        self.unchecked
            .keys()
            .any(|reason| reason.contains(&**name) || !folder.is_empty() && reason.contains(folder.as_str()))
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.extend(other.findings);
        for (reason, count) in other.unchecked {
            *self.unchecked.entry(reason).or_default() += count;
        }
        self.further.merge(other.further);
    }

    /// Adds a cluster to all findings.
    pub(super) fn add_cluster(&mut self, name: &ArcStr) {
        let all = self.findings.iter_mut().chain(self.further.first_mut());
        all.for_each(|finding| finding.clusters.push(name.clone()));
    }
}

impl Extend<Finding> for Findings {
    fn extend<I: IntoIterator<Item = Finding>>(&mut self, findings: I) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::File;

    /// A finding of a rule at a position on a cluster.
    fn finding(rule: &'static str, at: usize, cluster: &str) -> Finding {
        let file = File::new("a.yaml", "a: 1\n".repeat(100));
        let mut finding = Finding::error(rule, file.span(at..at + 1), "wrong");
        finding.clusters.push(cluster.into());
        finding
    }

    #[test]
    fn the_findings_of_a_rule_above_the_limit_are_counted() {
        let mut found = Findings::default();
        for at in (0..100).chain(0..100) {
            found.push_within(finding("many", at, "a"), 10);
            found.push_within(finding("few", 0, "a"), 10);
        }
        let held = found.findings.iter().filter(|finding| finding.rule == "many").count();
        let further: Vec<usize> = found.further.findings().iter().map(Finding::count).collect();
        assert!(held <= 30, "{held}");
        // A repeated finding counts once, unless it is held.
        assert!(further.len() == 1 && (100 - held..=100).contains(&further[0]), "{held} {further:?}");
        assert!(found.findings.iter().any(|finding| finding.rule == "few"));
    }

    #[test]
    fn repeated_findings_of_many_clusters_do_not_reach_the_limit() {
        let mut found = Findings::default();
        for cluster in 0..100 {
            (0..9).for_each(|at| found.push_within(finding("few", at, &format!("c{cluster}")), 10));
        }
        assert!(found.further.is_empty());
        found.remove_repeated();
        let clusters: Vec<usize> = found.findings.iter().map(|finding| finding.clusters.len()).collect();
        assert_eq!(clusters, [100; 9]);
    }
}
