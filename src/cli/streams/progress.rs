//! The line on a terminal that shows the activity of a long run.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The time after which a run shows its activity, and the time between two updates.
const INTERVAL: Duration = Duration::from_millis(500);

/// Erases the line of the cursor.
const ERASE: &str = "\r\x1b[K";

/// The progress of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    activity: &'static str,
    is_visible: bool,
    is_over: bool,
}

impl Progress {
    /// Shows the progress on standard error, which must be a terminal, until the end.
    pub(super) fn start(&self) {
        let (progress, start) = (self.clone(), Instant::now());
        // Without the thread, the run only lacks the line.
        let _ = thread::Builder::new().spawn(move || {
            loop {
                thread::sleep(INTERVAL);
                let mut state = progress.lock();
                if state.is_over {
                    return;
                }
                state.draw(start.elapsed(), &mut io::stderr());
            }
        });
    }

    /// Sets the present activity.
    pub(super) fn set(&self, activity: &'static str) {
        self.lock().activity = activity;
    }

    /// Erases the line for good.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.is_over = true;
        state.erase(&mut io::stderr());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The cursor stays at the start of the line, so that a report of a crash or a prompt replaces the line.
    fn draw(&mut self, elapsed: Duration, out: &mut impl Write) {
        self.is_visible = true;
        let _ = write!(out, "{ERASE}{} ({} s)\r", self.activity, elapsed.as_secs()).and_then(|()| out.flush());
    }

    fn erase(&mut self, out: &mut impl Write) {
        if std::mem::take(&mut self.is_visible) {
            let _ = write!(out, "{ERASE}").and_then(|()| out.flush());
        }
    }
}

/// A writer to a stream that may show the line.
pub(super) struct ErasingWriter<W> {
    /// The progress.
    pub progress: Progress,
    /// Whether the line may return after the output. Results can end in the middle of a line.
    pub has_whole_lines: bool,
    /// The writer.
    pub inner: W,
}

impl<W: Write> Write for ErasingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.progress.lock();
        state.is_over |= !self.has_whole_lines;
        state.erase(&mut io::stderr());
        // The lock is held, so that the line does not return before the output is written.
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_drawn_over_the_last_one_and_erased_once() {
        let mut state = State { activity: "reading files", ..State::default() };
        let mut out = Vec::new();
        state.erase(&mut out);
        assert!(out.is_empty());
        for seconds in [0, 1] {
            state.draw(Duration::from_secs(seconds), &mut out);
        }
        state.erase(&mut out);
        state.erase(&mut out);
        let expected = "\r\x1b[Kreading files (0 s)\r\r\x1b[Kreading files (1 s)\r\r\x1b[K";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
