//! Output streams: results to standard output, messages to standard error.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};

/// The two output streams, without colors if a stream does not support them.
pub(super) struct Streams {
    /// The stream of results.
    pub out: Box<dyn Write>,
    /// The stream of messages. Errors of this stream are ignored.
    err: Box<dyn Write>,
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
        Self { out: stream(stdout.lock(), out), err: stream(stderr, err), is_terminal }
    }

    /// Writes results, and returns `false` if the reader closed the pipe.
    ///
    /// A closed pipe is not an error: the exit code does not depend on how much the reader reads.
    pub(super) fn write(&mut self, results: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<bool> {
        match results(&mut *self.out).and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            written => written.map(|()| true),
        }
    }

    /// Prints a message to standard error, after the results so far.
    pub(super) fn message(&mut self, text: impl Display) {
        let _ = self.out.flush();
        let _ = writeln!(self.err, "{text}");
        let _ = self.err.flush();
    }
}

fn stream(raw: impl Write + 'static, choice: ColorChoice) -> Box<dyn Write> {
    let raw: Box<dyn Write> = Box::new(BufWriter::with_capacity(1 << 16, raw));
    Box::new(AutoStream::new(raw, choice))
}
