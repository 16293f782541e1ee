//! Errors of commands.

use std::io;

use anstyle::{AnsiColor, Style};

use super::exit::Exit;
use super::streams::Streams;
use crate::disk::DiskError;
use crate::report::mask::TooManySecrets;

const ERROR: Style = AnsiColor::BrightRed.on_default().bold();
const HELP: Style = AnsiColor::BrightCyan.on_default().bold();

/// An error that ends a command.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// The output cannot be written.
    #[error("cannot write the result: {0}")]
    Output(#[from] io::Error),
    /// An error of the file system.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Any other error, with advice.
    #[error("{message}")]
    WithHelp {
        /// The problem and its location.
        message: String,
        /// The advice.
        help: String,
    },
    /// A summary of findings that were already printed.
    #[error("{0}")]
    Printed(String),
}

impl From<TooManySecrets> for Error {
    fn from(_: TooManySecrets) -> Self {
        let help = "remove the Secrets with large values, or encrypt them: their values could be printed unmasked";
        Self::with_help("the repository contains more than 2 MiB of secret values", help)
    }
}

impl Error {
    /// Creates an error with advice.
    pub(super) fn with_help(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::WithHelp { message: message.into(), help: help.into() }
    }

    /// Prints the error. A closed pipe is not an error: the reader has read enough.
    pub(super) fn report(&self, streams: &mut Streams) -> Exit {
        if let Self::Output(error) = self
            && error.kind() == io::ErrorKind::BrokenPipe
        {
            return Exit::Clean;
        }
        streams.message(format_args!("{ERROR}error{ERROR:#}: {self}"));
        if let Self::WithHelp { help, .. } = self {
            streams.message(format_args!("{HELP}help{HELP:#}: {help}"));
        }
        Exit::Failed
    }
}
