//! Limits of the cost of templates.

use super::fault::Fault;

/// The cost limit for the templates of one ResourceSet.
#[derive(Debug)]
pub(in crate::flux::resourceset) struct Budget {
    steps: usize,
    bytes: usize,
}

impl Budget {
    pub(in crate::flux::resourceset) fn new() -> Self {
        Self { steps: 2_000_000, bytes: 32 << 20 }
    }

    pub(super) fn step(&mut self, at: usize) -> Result<(), Fault> {
        self.steps = self.steps.checked_sub(1).ok_or_else(|| Fault::limit(at, "the template takes too many steps"))?;
        Ok(())
    }

    pub(super) fn bytes(&mut self, count: usize) -> Result<(), Fault> {
        self.bytes =
            self.bytes.checked_sub(count).ok_or_else(|| Fault::limit(0, "the output of the templates is too large"))?;
        Ok(())
    }
}
