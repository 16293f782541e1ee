//! Findings and differences → text and the formats of other tools.

mod printable;
pub mod mask;
pub mod diff;
mod provenance;
pub mod build;
pub mod graph;
mod summary;
mod result;
pub mod access;
mod github;
pub mod json;
mod text;
pub mod trace;

use std::io::{self, Write};

pub use printable::printable;
pub use result::{Report, shown_path};
pub use summary::{Judged, Summary, counted};

/// A way to write a report.
#[derive(Debug)]
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is for, in a few words.
    pub about: &'static str,
    /// Writes the findings, which are the result of the command.
    pub write: fn(&Report, &mut dyn Write) -> io::Result<()>,
    /// Where the summary line goes.
    pub summary: SummaryLine,
}

/// Where the line goes that says how many findings there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryLine {
    /// After the findings: a person reads both.
    Result,
    /// Beside the result, which a program reads.
    Talk,
}

/// Every format; the first is the default, and the one that a person reads.
pub const FORMATS: &[Format] = &[
    Format { name: "text", about: "source lines for people", write: text::write, summary: SummaryLine::Result },
    Format { name: "json", about: "JSON for programs", write: json::write, summary: SummaryLine::Talk },
    Format { name: "github", about: "annotations on GitHub", write: github::write, summary: SummaryLine::Talk },
];
