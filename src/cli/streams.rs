//! Where results and talk go: results to standard output, talk to standard error.

use std::fmt::Display;
use std::io::{self, BufWriter, Write};

use anstream::{AutoStream, ColorChoice};

/// The two streams; colours end where they cannot be shown.
pub(super) struct Streams {
    /// Results.
    pub out: Box<dyn Write>,
    /// Talk; what cannot be said is not worth failing for.
    err: Box<dyn Write>,
}

impl Streams {
    /// The streams of this process.
    pub(super) fn standard(choice: ColorChoice) -> Self {
        let of = |choice_for: ColorChoice| if choice == ColorChoice::Auto { choice_for } else { choice };
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let (out, err) = (of(AutoStream::choice(&stdout)), of(AutoStream::choice(&stderr)));
        // Standard error stays unlocked: a panic on another thread has to be able to say so.
        Self { out: stream(stdout.lock(), out), err: stream(stderr, err) }
    }

    /// Writes results; a reader that has read enough ends that quietly. `false` when there is no reader any longer.
    ///
    /// What the process exits with does not depend on how much of it was read: a pipeline that fails on it still does.
    pub(super) fn write(&mut self, results: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<bool> {
        match results(&mut *self.out).and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            written => written.map(|()| true),
        }
    }

    /// Says something beside the results, after the results so far.
    pub(super) fn say(&mut self, text: impl Display) {
        let _ = self.out.flush();
        let _ = writeln!(self.err, "{text}");
        let _ = self.err.flush();
    }
}

fn stream(raw: impl Write + 'static, choice: ColorChoice) -> Box<dyn Write> {
    let raw: Box<dyn Write> = Box::new(BufWriter::with_capacity(1 << 16, raw));
    Box::new(AutoStream::new(raw, choice))
}
