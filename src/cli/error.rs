//! Why a command could not do its work: what, where, what to do.

use std::io;

use anstyle::{AnsiColor, Style};

use super::exit::Exit;
use super::streams::Streams;
use crate::disk::DiskError;

const ERROR: Style = AnsiColor::BrightRed.on_default().bold();
const HELP: Style = AnsiColor::BrightCyan.on_default().bold();

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// The results could not be written.
    #[error("cannot write the result: {0}")]
    Output(#[from] io::Error),
    /// The file system refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Anything else, with what to do about it.
    #[error("{message}")]
    Said {
        /// What and where.
        message: String,
        /// What to do.
        help: String,
    },
    /// Findings that were shown already.
    #[error("{0}")]
    Shown(String),
}

impl Error {
    /// An error with what to do about it.
    pub(super) fn said(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Said { message: message.into(), help: help.into() }
    }

    /// Tells the user. A reader that has read enough is none of our errors.
    pub(super) fn report(&self, streams: &mut Streams) -> Exit {
        if let Self::Output(error) = self
            && error.kind() == io::ErrorKind::BrokenPipe
        {
            return Exit::Clean;
        }
        streams.say(format_args!("{ERROR}error{ERROR:#}: {self}"));
        if let Self::Said { help, .. } = self {
            streams.say(format_args!("{HELP}help{HELP:#}: {help}"));
        }
        Exit::Failed
    }
}
