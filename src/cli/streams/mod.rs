//! Output streams: results to standard output, messages to standard error.

mod guard;

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};

use crate::report::mask::SecretValues;
use guard::Guard;

pub(super) use guard::Lines;

/// The two output streams, without colors if a stream does not support them.
pub(super) struct Streams {
    /// The stream of results.
    results: Guard,
    /// The stream of messages. Errors of this stream are ignored.
    err: Guard,
    /// Whether a user reads the results on a terminal.
    pub is_terminal: bool,
}

impl Streams {
    /// Creates the streams of this process.
    pub(super) fn standard(choice: ColorChoice) -> Self {
        let of = |choice_for: ColorChoice| if choice == ColorChoice::Auto { choice_for } else { choice };
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let (out, err) = (of(AutoStream::choice(&stdout)), of(AutoStream::choice(&stderr)));
        // Standard error stays unlocked, so that a panic in another thread can be reported.
        let is_terminal = stdout.is_terminal();
        Self { results: stream(stdout.lock(), out), err: stream(stderr, err), is_terminal }
    }

    /// The stream of results.
    pub(super) fn out(&mut self) -> &mut dyn Write {
        &mut self.results
    }

    /// Masks secret values in all further output.
    pub(super) fn hide(&mut self, values: &SecretValues) {
        let redactor = values.redactor();
        self.results.redactor.clone_from(&redactor);
        self.err.redactor = redactor;
    }

    /// Returns a text with masked secret values, for a file.
    pub(super) fn masked<'a>(&self, lines: Lines, text: &'a str) -> Cow<'a, str> {
        self.results.redactor.as_ref().map_or(Cow::Borrowed(text), |redactor| lines.redact(redactor, text))
    }

    /// Writes results that programs read, and returns `false` if the reader closed the pipe.
    pub(super) fn write_as(
        &mut self,
        lines: Lines,
        data: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<bool> {
        self.results.flush()?;
        self.results.lines = lines;
        let written = self.write(data);
        self.results.lines = Lines::Text;
        written
    }

    /// Writes results, and returns `false` if the reader closed the pipe.
    ///
    /// A closed pipe is not an error: the exit code does not depend on how much the reader reads.
    pub(super) fn write(&mut self, results: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<bool> {
        match results(&mut self.results).and_then(|()| self.results.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            written => written.map(|()| true),
        }
    }

    /// Prints a message to standard error, after the results so far.
    pub(super) fn message(&mut self, text: impl Display) {
        let _ = self.results.flush();
        let _ = writeln!(self.err, "{text}");
        let _ = self.err.flush();
    }
}

fn stream(raw: impl Write + 'static, choice: ColorChoice) -> Guard {
    let raw: Box<dyn Write> = Box::new(BufWriter::with_capacity(1 << 16, raw));
    Guard::new(Box::new(AutoStream::new(raw, choice)))
}
