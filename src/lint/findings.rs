//! The result of a check: findings, and the number of undecided facts.

use std::collections::BTreeMap;
use std::mem::take;

use crate::base::finding::Finding;
use crate::flux::Cluster;
use crate::text::Index;

/// The number of findings from which equal findings are removed when the list is full.
const MANY: usize = 256;

/// The findings of a check, and the number of facts that the check could not decide.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// The findings.
    pub(super) findings: Vec<Finding>,
    /// The number of facts that the check could not decide, by reason.
    pub(super) unchecked: BTreeMap<String, usize>,
}

impl Findings {
    /// Adds a finding.
    pub fn push(&mut self, finding: Finding) {
        let is_full = self.findings.len() == self.findings.capacity();
        if is_full && self.findings.len() >= MANY {
            self.remove_repeated();
        }
        self.findings.push(finding);
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
        self.findings.is_empty() && self.unchecked.is_empty()
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
    }
}

impl Extend<Finding> for Findings {
    fn extend<I: IntoIterator<Item = Finding>>(&mut self, findings: I) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }
}
