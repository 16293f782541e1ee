//! Findings that are only counted, since a rule has very many. A small repository may apply a directory many times.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::base::finding::{Finding, Others, Severity};

/// The findings that are only counted: for each rule and severity, the first of them and the hashes of all of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Further(BTreeMap<(&'static str, Severity), (Finding, BTreeSet<u64>)>);

impl Further {
    /// Counts a finding. Equal findings of several clusters count once.
    pub(super) fn add(&mut self, finding: Finding) {
        let mut hasher = DefaultHasher::new();
        (finding.at.span.order(), &finding.message).hash(&mut hasher);
        let hash = hasher.finish();
        let key = (finding.rule, finding.severity);
        self.0.entry(key).or_insert_with(|| (finding, BTreeSet::new())).1.insert(hash);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (key, (first, hashes)) in other.0 {
            self.0.entry(key).or_insert_with(|| (first, BTreeSet::new())).1.extend(hashes);
        }
    }

    pub(super) fn first_mut(&mut self) -> impl Iterator<Item = &mut Finding> {
        self.0.values_mut().map(|(first, _)| first)
    }

    /// A finding for all findings of a rule and severity. No exception for an object accepts it.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let joined = |(first, hashes): &(Finding, BTreeSet<u64>)| {
            let others = hashes.len() - 1;
            let message = format!(
                "{}: the first of {} findings of this rule that are not listed, since the repository has too many",
                first.message,
                hashes.len()
            );
            let others = Others { places: Vec::new(), omitted: others, count: others };
            Finding {
                message,
                related: Vec::new(),
                joint: None,
                help: Some("correct the other findings of the rule first".to_owned()),
                object: None,
                cause: None,
                others: (others.count > 0).then(|| Box::new(others)),
                fix: None,
                ..first.clone()
            }
        };
        self.0.values().map(joined).collect()
    }
}
