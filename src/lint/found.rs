//! What a rule says while it looks.

use std::collections::BTreeMap;

use crate::base::finding::Finding;

/// What a rule says while it looks.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// The faults.
    pub(super) findings: Vec<Finding>,
    /// What could not be judged, counted by what stood in the way.
    pub(super) unchecked: BTreeMap<String, usize>,
}

impl Found {
    /// Reports a fault.
    pub fn push(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Counts something that cannot be judged, by what stands in the way: the rights of a role that a chart makes, say.
    pub fn unchecked(&mut self, why: impl Into<String>) {
        *self.unchecked.entry(why.into()).or_default() += 1;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.findings.is_empty() && self.unchecked.is_empty()
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.findings.extend(other.findings);
        for (why, count) in other.unchecked {
            *self.unchecked.entry(why).or_default() += count;
        }
    }
}

impl Extend<Finding> for Found {
    fn extend<I: IntoIterator<Item = Finding>>(&mut self, findings: I) {
        self.findings.extend(findings);
    }
}
