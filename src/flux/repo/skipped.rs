//! The files that were not checked.

use std::collections::BTreeMap;

use crate::flux::classify::SkipReason;

/// The files that were not checked, counted by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped(pub BTreeMap<&'static str, usize>);

impl Skipped {
    pub(super) fn count(&mut self, reason: SkipReason) {
        *self.0.entry(reason.text()).or_default() += 1;
    }

    pub(super) fn add(&mut self, others: Self) {
        for (reason, count) in others.0 {
            *self.0.entry(reason).or_default() += count;
        }
    }

    /// The number of files that were not checked.
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }
}
