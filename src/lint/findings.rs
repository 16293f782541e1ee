//! The result of a check: findings, and the number of undecided facts.

use std::collections::BTreeMap;

use crate::base::finding::Finding;
use crate::flux::Cluster;

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
        self.findings.push(finding);
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
        self.findings.extend(other.findings);
        for (reason, count) in other.unchecked {
            *self.unchecked.entry(reason).or_default() += count;
        }
    }
}

impl Extend<Finding> for Findings {
    fn extend<I: IntoIterator<Item = Finding>>(&mut self, findings: I) {
        self.findings.extend(findings);
    }
}
