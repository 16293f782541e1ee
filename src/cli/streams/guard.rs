//! A stream that no text of a repository can abuse: it masks secret values and escapes control characters.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

use super::held::Held;
use super::lines::Lines;
use super::transcript::Destination;
use crate::report::mask::Redactor;
use crate::report::{json_line, log_line};

/// A writer that changes whole lines.
pub(super) struct Guard {
    inner: Box<dyn Write>,
    destination: Destination,
    held: Held,
    /// The start of a line without its end.
    line: Vec<u8>,
    /// The treatment of lines.
    pub lines: Lines,
    /// The secret values of the repository.
    pub redactor: Option<Arc<Redactor>>,
}

impl Guard {
    pub(super) fn new(inner: Box<dyn Write>, destination: Destination, held: Held) -> Self {
        Self { inner, destination, held, line: Vec::new(), lines: Lines::Text, redactor: None }
    }

    fn write_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        if self.held.add(&self.destination, self.lines, &line) {
            return Ok(());
        }
        let Ok(text) = std::str::from_utf8(&line) else { return self.inner.write_all(&line) };
        let masked = self.redactor.as_ref().map_or(Cow::Borrowed(text), |redactor| self.lines.redact(redactor, text));
        // A carriage return before the end of a line moves no cursor, and `git apply` needs it in a diff.
        let mut ends = ["\r\n", "\n"].into_iter();
        let (content, end) = ends.find_map(|end| Some((masked.strip_suffix(end)?, end))).unwrap_or((&*masked, ""));
        let content = match self.lines {
            Lines::Text | Lines::Xml => log_line(content),
            Lines::Json => json_line(content),
            Lines::Commands | Lines::Yaml | Lines::Data => Cow::Borrowed(content),
        };
        self.inner.write_all(content.as_bytes())?;
        self.inner.write_all(end.as_bytes())
    }
}

impl Write for Guard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.write_line()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.line.is_empty() {
            self.write_line()?;
        }
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_carriage_return_stays_only_before_the_end_of_a_line() {
        let written = Arc::new(Mutex::new(Vec::new()));
        let mut guard = Guard::new(Box::new(Sink(written.clone())), Destination::Results, Held::default());
        guard.write_all(b"-a\r\n+b\rc\n").unwrap();
        guard.flush().unwrap();
        assert_eq!(String::from_utf8(written.lock().unwrap().clone()).unwrap(), "-a\r\n+b\u{FFFD}c\n");
    }
}
