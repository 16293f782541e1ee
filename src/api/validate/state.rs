//! The state of the validation of one object.

use super::mismatch::{Fault, Mismatch};
use super::path::Path;
use crate::yaml::Node;

/// The maximum number of values that are compared with a schema.
const MAX_STEPS: usize = 2_000_000;
/// The maximum number of mismatches of one object.
const MAX_MISMATCHES: usize = 50;

/// The cost that the API server allows for all rules of one object.
const MAX_RULE_STEPS: u64 = 10_000_000;

/// The validation of one object.
pub(super) struct Walk {
    /// Whether the kind is of Kubernetes, whose Go types have rules of their own.
    is_typed: bool,
    /// The name of the kind, for messages.
    pub(super) kind: String,
    steps: usize,
    pub(super) found: Vec<Mismatch>,
    /// The remaining steps of the evaluation of rules.
    pub(super) rule_steps: u64,
}

impl Walk {
    pub(super) fn new(kind: &str, is_typed: bool) -> Self {
        Self { is_typed, kind: kind.to_owned(), steps: 0, found: Vec::new(), rule_steps: MAX_RULE_STEPS }
    }

    /// Adds a mismatch, up to a limit.
    pub(super) fn add(&mut self, mismatch: Mismatch) {
        if self.found.len() < MAX_MISMATCHES {
            self.found.push(mismatch);
        }
    }

    /// Adds a mismatch at the value of a field.
    pub(super) fn add_at(&mut self, fault: Fault, node: &Node, path: &Path<'_>, message: String, help: Option<String>) {
        self.add(Mismatch { fault, path: path.text(), at: node.span().clone(), message, help, meant: None });
    }

    /// Counts a step. `false` if the limit is met.
    pub(super) fn step(&mut self) -> bool {
        self.steps += 1;
        self.steps <= MAX_STEPS && self.found.len() < MAX_MISMATCHES
    }

    /// Whether the kind is of Kubernetes.
    pub(super) fn is_typed(&self) -> bool {
        self.is_typed
    }
}
