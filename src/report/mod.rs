//! Output of findings, objects and diffs as text, JSON and formats of other tools.

mod places;
mod printable;
pub mod mask;
pub mod diff;
mod provenance;
pub mod build;
pub mod graph;
mod summary;
mod result;
pub mod access;
mod concise;
mod github;
mod gitlab;
pub mod json;
mod junit;
mod markdown;
mod sarif;
mod text;
pub mod trace;
pub mod changes;

use std::io::{self, Write};

pub use markdown::within as markdown_within;
pub use printable::{json_line, log_line, one_line, printable};
pub use result::{Report, display_path};
pub use summary::{Coverage, Summary, counted};

/// An output format of reports.
#[derive(Debug)]
pub struct Format {
    /// The name on the command line.
    pub name: &'static str,
    /// A short description.
    pub about: &'static str,
    /// Writes the findings.
    pub write: fn(&Report, &mut dyn Write) -> io::Result<()>,
    /// The destination of the summary line.
    pub summary: SummaryLine,
}

/// The destination of the summary line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryLine {
    /// Standard output, after the findings.
    Stdout,
    /// Standard error, since a program reads standard output.
    Stderr,
}

/// All formats; the first is the default, for terminals.
pub const FORMATS: &[Format] = &[
    Format { name: "text", about: "source lines for terminals", write: text::write, summary: SummaryLine::Stdout },
    Format { name: "concise", about: "one line per finding", write: concise::write, summary: SummaryLine::Stdout },
    Format { name: "json", about: "JSON for programs", write: json::write, summary: SummaryLine::Stderr },
    Format { name: "sarif", about: "SARIF 2.1.0 for code scanning", write: sarif::write, summary: SummaryLine::Stderr },
    Format {
        name: "github",
        about: "annotations and job summary on GitHub",
        write: github::write,
        summary: SummaryLine::Stderr,
    },
    Format { name: "gitlab", about: "code quality on GitLab", write: gitlab::write, summary: SummaryLine::Stderr },
    Format { name: "junit", about: "JUnit XML for CI systems", write: junit::write, summary: SummaryLine::Stderr },
    Format { name: "markdown", about: "Markdown for comments", write: markdown::write, summary: SummaryLine::Stderr },
];
