//! The transcript of a run: everything that it writes, in order, so that a later run can write the same.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A destination of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Destination {
    /// Standard output.
    Results,
    /// Standard error.
    Messages,
    /// A file that the user names.
    File(PathBuf),
}

/// Output for one destination, without secret values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Part {
    /// The destination.
    pub destination: Destination,
    /// The output.
    pub bytes: Vec<u8>,
}

/// The transcript of the present run; `None` if the run has none.
#[derive(Debug, Clone, Default)]
pub(super) struct Transcript(Rc<RefCell<Option<Recorded>>>);

#[derive(Debug)]
struct Recorded {
    parts: Vec<Part>,
    /// Whether everything was written.
    is_complete: bool,
}

impl Transcript {
    /// Starts the transcript.
    pub(super) fn start(&self) {
        *self.0.borrow_mut() = Some(Recorded { parts: Vec::new(), is_complete: true });
    }

    /// Ends the transcript; `None` if output was lost.
    pub(super) fn finish(&self) -> Option<Vec<Part>> {
        self.0.borrow_mut().take().filter(|recorded| recorded.is_complete).map(|recorded| recorded.parts)
    }

    /// Adds a file.
    pub(super) fn add_file(&self, path: &Path, bytes: &[u8]) {
        self.add(&Destination::File(path.to_owned()), bytes);
    }

    fn add(&self, destination: &Destination, bytes: &[u8]) {
        let mut recorded = self.0.borrow_mut();
        let Some(recorded) = recorded.as_mut() else { return };
        match recorded.parts.last_mut().filter(|last| last.destination == *destination) {
            Some(last) => last.bytes.extend_from_slice(bytes),
            None => recorded.parts.push(Part { destination: destination.clone(), bytes: bytes.to_owned() }),
        }
    }

    fn fail(&self) {
        if let Some(recorded) = self.0.borrow_mut().as_mut() {
            recorded.is_complete = false;
        }
    }
}

/// A writer whose output is in a transcript.
pub(super) struct RecordedWriter {
    /// The transcript.
    pub transcript: Transcript,
    /// The destination.
    pub destination: Destination,
    /// The writer.
    pub inner: Box<dyn Write>,
}

impl RecordedWriter {
    fn checked<T>(&self, written: io::Result<T>) -> io::Result<T> {
        written.inspect_err(|_| self.transcript.fail())
    }
}

impl Write for RecordedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes);
        let count = self.checked(written)?;
        self.transcript.add(&self.destination, bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.checked(flushed)
    }
}
