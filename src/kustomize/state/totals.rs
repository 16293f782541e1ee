//! The limits of all builds of a run.
//!
//! Every build has its own limits. A repository with many builds, each close to its limits, would still exceed all
//! memory or time. Builds share their counts as they share their results: a directory that many builds include counts
//! once.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The maximum cost of all builds of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of objects. Each directory that includes an object counts the object, and so does each
    /// substitution of its variables.
    pub objects: usize,
    /// The maximum number of values that transformers and substitutions visit.
    pub steps: usize,
    /// The maximum size of the objects and of the files that generators read, in bytes.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { objects: usize::MAX, steps: usize::MAX, bytes: usize::MAX }
    }
}

/// The cost of all builds of a run so far. Threads share it.
#[derive(Debug, Default)]
pub struct Totals {
    limits: Limits,
    objects: AtomicUsize,
    steps: AtomicUsize,
    bytes: AtomicUsize,
}

impl Totals {
    /// Starts to count.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Starts to count after other builds, whose results remain in memory.
    pub fn after(limits: Limits, other: &Self) -> Self {
        let count = |of: &AtomicUsize| AtomicUsize::new(of.load(Ordering::Relaxed));
        Self { limits, objects: count(&other.objects), steps: count(&other.steps), bytes: count(&other.bytes) }
    }

    /// Counts objects.
    pub fn add_objects(&self, count: usize) {
        add(&self.objects, count);
    }

    /// Counts visited values.
    pub fn add_steps(&self, count: usize) {
        add(&self.steps, count);
    }

    /// Counts bytes.
    pub fn add_bytes(&self, count: usize) {
        add(&self.bytes, count);
    }

    /// Returns whether the builds exceed a limit.
    pub fn are_exceeded(&self) -> bool {
        is_over(&self.objects, self.limits.objects)
            || is_over(&self.steps, self.limits.steps)
            || is_over(&self.bytes, self.limits.bytes)
    }

    /// The limit that the builds exceed, as the end of a sentence about them.
    pub fn exceeded(&self) -> Option<String> {
        let Limits { objects, steps, bytes } = self.limits;
        if is_over(&self.objects, objects) {
            Some(format!("have more than {objects} objects"))
        } else if is_over(&self.steps, steps) {
            Some(format!("visit more than {steps} values"))
        } else if is_over(&self.bytes, bytes) {
            Some(format!("have objects of more than {} MiB", bytes >> 20))
        } else {
            None
        }
    }
}

fn is_over(count: &AtomicUsize, limit: usize) -> bool {
    count.load(Ordering::Relaxed) > limit
}

/// Adds to a count that many threads change. A count never returns to a small number.
fn add(to: &AtomicUsize, count: usize) {
    const MAX: usize = usize::MAX / 2;
    if to.fetch_add(count.min(MAX / 2), Ordering::Relaxed) > MAX {
        to.store(MAX, Ordering::Relaxed);
    }
}
