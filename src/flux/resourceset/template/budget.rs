//! Limits of the cost of templates.

use super::fault::Fault;
use super::value::{Kind, Value};

/// The maximum depth of a value. A printed, compared or freed value needs the stack for its depth.
const MAX_DEPTH: usize = 90;

/// The maximum number of steps of the templates of one ResourceSet.
const MAX_STEPS: usize = 2_000_000;

/// The maximum size of the values of the templates of one ResourceSet, in bytes.
const MAX_BYTES: usize = 32 << 20;

/// The maximum number of steps of the regular expressions of one ResourceSet.
const MAX_MATCHING: usize = 500_000_000;

/// The number of bytes that take as much time as a step.
const BYTES_OF_STEP: usize = 16;

/// The number of steps of a regular expression that take as much time as a step.
const MATCHING_OF_STEP: usize = 10;

/// The cost limit for the templates of one ResourceSet.
#[derive(Debug)]
pub(in crate::flux::resourceset) struct Budget {
    steps: usize,
    bytes: usize,
    /// The steps of regular expressions.
    matching: usize,
}

impl Budget {
    pub(in crate::flux::resourceset) fn new() -> Self {
        Self { steps: MAX_STEPS, bytes: MAX_BYTES, matching: MAX_MATCHING }
    }

    /// The spent part, as a number of values that take as much time.
    pub(in crate::flux::resourceset) fn spent(&self) -> usize {
        (MAX_STEPS - self.steps)
            + (MAX_BYTES - self.bytes) / BYTES_OF_STEP
            + (MAX_MATCHING - self.matching) / MATCHING_OF_STEP
    }

    pub(super) fn step(&mut self, at: usize) -> Result<(), Fault> {
        self.steps = self.steps.checked_sub(1).ok_or_else(|| Fault::bound(at, "the template takes too many steps"))?;
        Ok(())
    }

    pub(in crate::flux::resourceset) fn bytes(&mut self, count: usize) -> Result<(), Fault> {
        self.bytes =
            self.bytes.checked_sub(count).ok_or_else(|| Fault::bound(0, "the output of the templates is too large"))?;
        Ok(())
    }

    /// Pays for the compilation or a match of a regular expression.
    pub(super) fn matching(&mut self, count: usize) -> Result<(), Fault> {
        self.matching = self
            .matching
            .checked_sub(count)
            .ok_or_else(|| Fault::bound(0, "the regular expressions of the templates take too many steps"))?;
        Ok(())
    }

    /// Pays for a value with everything in it. A list that contains a list twice is small, but its text is not.
    pub(super) fn value(&mut self, value: &Value, depth: usize) -> Result<(), Fault> {
        if depth > MAX_DEPTH {
            return Err(Fault::bound(0, "a value is nested too deeply"));
        }
        self.bytes(1)?;
        match &value.kind {
            Kind::List(items, _) => items.iter().try_for_each(|item| self.value(item, depth + 1)),
            Kind::Map(entries) | Kind::Texts(entries) => {
                entries.borrow().values().try_for_each(|entry| self.value(entry, depth + 1))
            }
            Kind::Text(text) if depth > 0 => self.bytes(text.len()),
            _ => Ok(()),
        }
    }
}
