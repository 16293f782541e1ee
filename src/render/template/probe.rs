//! The search for the line of a template that exhausts the memory or the time.
//!
//! Each step of a template may double a value, and a step cannot be interrupted. Therefore, another process renders again
//! with a growing number of steps, and reports the line that each number reaches. The last line before its end has the
//! fault.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::text::Span;

/// A function that reports the number of a render, and the line that it reached.
type Report = dyn Fn(usize, &Span) + Send + Sync;

/// A search. All renders of one process have numbers, if the process has one thread.
pub struct Probe {
    /// The number of the render whose lines are reported; zero to report only the start of each render.
    pub of: usize,
    /// Reports a line.
    pub report: Box<Report>,
    count: AtomicUsize,
}

impl Probe {
    /// Creates a search.
    pub fn new(of: usize, report: Box<Report>) -> Self {
        Self { of, report, count: AtomicUsize::default() }
    }

    /// The number of the next render, from one.
    pub(super) fn next(&self) -> usize {
        1 + self.count.fetch_add(1, Ordering::Relaxed)
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").field("of", &self.of).finish_non_exhaustive()
    }
}
