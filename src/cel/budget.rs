//! The limit of the cost of an evaluation.

use super::failure::Failure;

/// The cost that the API server allows for one evaluation of one expression.
pub const STEPS_OF_EXPRESSION: u64 = 1_000_000;

/// The cost that the API server allows for all expressions of one request.
pub const STEPS_OF_REQUEST: u64 = 10_000_000;

/// The cost of all requests of a run of the linter, which takes about 12 seconds on one core.
const STEPS_OF_RUN: u64 = 100_000_000;

/// The cost that every request may have, however many there are. Rules of public definitions cost less than half.
const MIN_STEPS_OF_REQUEST: u64 = 10_000;

/// The bytes of a text that cost as much as one step.
const BYTES_PER_STEP: usize = 10;

/// The remaining steps of an evaluation.
///
/// A step is one operation, one item of a list, or ten bytes of a text. This is close to the cost that the API server
/// counts, and it bounds the time and the memory of an evaluation.
#[derive(Debug, Clone)]
pub struct Budget {
    left: u64,
    limit: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(STEPS_OF_EXPRESSION)
    }
}

impl Budget {
    /// Creates a budget of a number of steps.
    pub fn new(limit: u64) -> Self {
        Self { left: limit, limit }
    }

    /// Creates the budget of each of a number of requests. Many requests have less, so that a run ends.
    pub fn of_request(requests: usize) -> Self {
        let requests = u64::try_from(requests.max(1)).unwrap_or(u64::MAX);
        Self::new((STEPS_OF_RUN / requests).clamp(MIN_STEPS_OF_REQUEST, STEPS_OF_REQUEST))
    }

    /// The limit of the next expression, in steps.
    pub fn limit_of_expression(&self) -> u64 {
        self.left.min(STEPS_OF_EXPRESSION)
    }

    /// Whether no steps are left.
    pub fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Ends the budget.
    pub fn end(&mut self) {
        self.left = 0;
    }

    /// The number of steps that were spent.
    pub fn spent(&self) -> u64 {
        self.limit - self.left
    }

    /// Spends steps.
    pub fn spend(&mut self, steps: usize) -> Result<(), Failure> {
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        if steps > self.left {
            self.left = 0;
            return Err(Failure::Limit);
        }
        self.left -= steps;
        Ok(())
    }

    /// Spends the steps for reading or creating a text.
    pub(super) fn spend_text(&mut self, bytes: usize) -> Result<(), Failure> {
        self.spend(bytes / BYTES_PER_STEP)
    }
}
