//! Output streams: results to standard output, messages to standard error.

mod transcript;
mod lines;
mod held;
mod guard;
mod progress;

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use anstream::{AutoStream, ColorChoice};

use crate::disk::{self, DiskError};
use crate::report::mask::{Printed, SecretValues, TooManySecrets};
use guard::Guard;
use held::{Held, Piece};
use progress::{ErasingWriter, Progress};
use transcript::{RecordedWriter, Transcript};

pub(super) use lines::Lines;
pub(super) use transcript::{Destination, Part};

/// The two output streams, without colors if a stream does not support them.
pub(super) struct Streams {
    /// The stream of results.
    results: Guard,
    /// The stream of messages. Errors of this stream are ignored.
    err: Guard,
    progress: Progress,
    transcript: Transcript,
    held: Held,
    /// The colors of both streams, on which their output depends.
    pub colors: [ColorChoice; 2],
    /// Whether a user reads the results on a terminal.
    pub is_terminal: bool,
    /// Whether standard error is a terminal that can erase a line.
    can_erase: bool,
}

impl Streams {
    /// Creates the streams of this process.
    pub(super) fn standard(choice: ColorChoice) -> Self {
        let of = |choice_for: ColorChoice| if choice == ColorChoice::Auto { choice_for } else { choice };
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let (out, err) = (of(AutoStream::choice(&stdout)), of(AutoStream::choice(&stderr)));
        // Standard error stays unlocked, so that a panic in another thread can be reported.
        let is_terminal = stdout.is_terminal();
        let can_erase = stderr.is_terminal() && err != ColorChoice::Never;
        let (progress, transcript, held) = (Progress::default(), Transcript::default(), Held::default());
        let results = ErasingWriter { progress: progress.clone(), has_whole_lines: false, inner: stdout.lock() };
        let results = stream(results, out, Destination::Results, &transcript, &held);
        let messages = ErasingWriter { progress: progress.clone(), has_whole_lines: true, inner: stderr };
        let messages = stream(messages, err, Destination::Messages, &transcript, &held);
        Self { results, err: messages, progress, transcript, held, colors: [out, err], is_terminal, can_erase }
    }

    /// Shows the activity of a run that takes longer than half a second, if a user reads messages on a terminal.
    pub(super) fn start_progress(&self, activity: &'static str) {
        self.set_activity(activity);
        if self.can_erase {
            self.progress.start();
        }
    }

    /// Sets the activity that the run shows.
    pub(super) fn set_activity(&self, activity: &'static str) {
        self.progress.set(activity);
    }

    /// Ends the display of the activity.
    pub(super) fn end_progress(&self) {
        self.progress.end();
    }

    /// The stream of results.
    pub(super) fn out(&mut self) -> &mut dyn Write {
        &mut self.results
    }

    /// Masks secret values in all further output. Values that are too long to be masked are an error.
    pub(super) fn hide(&mut self, values: &SecretValues) -> Result<(), TooManySecrets> {
        if values.exceeds_limit() {
            return Err(TooManySecrets);
        }
        let redactor = values.redactor();
        self.results.redactor.clone_from(&redactor);
        self.err.redactor = redactor;
        Ok(())
    }

    /// Holds all further output back, since the values that it contains are unknown.
    pub(super) fn hold(&mut self) -> io::Result<()> {
        self.write(|_| Ok(()))?;
        self.held.start();
        Ok(())
    }

    /// Writes the output that was held, with masked values. `values` collects the values that it may contain.
    pub(super) fn release<E>(&mut self, values: impl FnOnce(&Printed) -> SecretValues) -> Result<(), E>
    where
        E: From<TooManySecrets> + From<io::Error> + From<DiskError>,
    {
        self.results.flush()?;
        self.err.flush()?;
        let pieces = self.held.finish();
        let mut printed = Printed::default();
        for piece in &pieces {
            printed.add(&piece.bytes);
        }
        self.hide(&values(&printed))?;
        let mut is_read = true;
        for Piece { destination, lines, bytes } in pieces {
            match destination {
                Destination::Results if is_read => is_read = self.write_as(lines, |out| out.write_all(&bytes))?,
                Destination::Results => {}
                Destination::Messages => {
                    self.err.lines = lines;
                    let _ = self.err.write_all(&bytes).and_then(|()| self.err.flush());
                    self.err.lines = Lines::Text;
                }
                Destination::File(path) => self.write_file(&path, lines, &String::from_utf8_lossy(&bytes))?,
            }
        }
        Ok(())
    }

    /// Returns whether the output masks no secret values yet.
    pub(super) fn shows_secrets(&self) -> bool {
        self.err.redactor.is_none()
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

    /// Starts a transcript of all further output.
    pub(super) fn start_transcript(&mut self) {
        let _ = self.results.flush();
        self.transcript.start();
    }

    /// Ends the transcript, and returns it; `None` if output was lost.
    pub(super) fn finish_transcript(&mut self) -> Option<Vec<Part>> {
        let is_written = self.results.flush().is_ok();
        self.transcript.finish().filter(|_| is_written)
    }

    /// Writes a file that the user names, with masked secret values.
    pub(super) fn write_file(&self, path: &Path, lines: Lines, text: &str) -> Result<(), DiskError> {
        if self.held.add(&Destination::File(path.to_owned()), lines, text.as_bytes()) {
            return Ok(());
        }
        let masked = self.masked(lines, text);
        disk::replace(path, masked.as_bytes())?;
        self.transcript.add_file(path, masked.as_bytes());
        Ok(())
    }

    /// Writes messages as they were written before.
    pub(super) fn repeat_messages(&mut self, bytes: &[u8]) {
        let _ = self.results.flush();
        self.err.lines = Lines::Data;
        let _ = self.err.write_all(bytes);
        let _ = self.err.flush();
        self.err.lines = Lines::Text;
    }

    /// Prints a message to standard error, after the results so far.
    pub(super) fn message(&mut self, text: impl Display) {
        let _ = self.results.flush();
        let _ = writeln!(self.err, "{text}");
        let _ = self.err.flush();
    }
}

fn stream(
    raw: impl Write + 'static,
    choice: ColorChoice,
    destination: Destination,
    transcript: &Transcript,
    held: &Held,
) -> Guard {
    let inner = Box::new(BufWriter::with_capacity(1 << 16, raw));
    let raw = RecordedWriter { transcript: transcript.clone(), destination: destination.clone(), inner };
    let raw: Box<dyn Write> = Box::new(raw);
    Guard::new(Box::new(AutoStream::new(raw, choice)), destination, held.clone())
}
