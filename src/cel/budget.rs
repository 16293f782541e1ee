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

    /// The budget of each of the requests that this one does not suffice for, after all requests have spent a number of
    /// steps; `None` if the rest of the run is not much more.
    pub fn with_rest(&self, requests: usize, spent: u64) -> Option<Self> {
        let rest = STEPS_OF_RUN.saturating_sub(spent);
        let share = rest.checked_div(u64::try_from(requests).ok()?)?.min(STEPS_OF_REQUEST);
        (share >= self.limit.saturating_mul(2)).then(|| Self::new(share))
    }

    /// Creates the budget of a run.
    pub fn of_run() -> Self {
        Self::new(STEPS_OF_RUN)
    }

    /// The budget of the next of several requests that follow each other.
    #[must_use]
    pub fn of_next_request(&self) -> Self {
        Self::new(self.left.min(STEPS_OF_REQUEST))
    }

    /// Spends the steps of a request.
    pub fn spend_of(&mut self, request: &Self) {
        self.left = self.left.saturating_sub(request.spent());
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
