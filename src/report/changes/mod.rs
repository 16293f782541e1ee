//! Output of the changes between two states of a repository, as text, JSON, Markdown and HTML.

mod document;
mod text;
mod markdown;
mod html;

use std::io::{self, Write};

pub use document::{Roots, reason};

use document::Document;

use crate::changes::Changes;

/// The formats of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangesFormat {
    /// Text for terminals.
    Text,
    /// JSON for programs.
    Json,
    /// Markdown for job summaries and comments of pull requests.
    Markdown,
    /// One HTML page without external resources.
    Html,
}

/// Writes changes.
pub fn write(changes: &Changes, format: ChangesFormat, roots: Roots<'_>, out: &mut dyn Write) -> io::Result<()> {
    let document = Document::new(changes, roots);
    match format {
        ChangesFormat::Text => text::write(&document, out),
        ChangesFormat::Markdown => markdown::write(&document, out),
        ChangesFormat::Html => html::write(&document, out),
        ChangesFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, &document)?;
            writeln!(out)
        }
    }
}

/// The JSON Schema of the output in JSON.
pub fn schema() -> serde_json::Value {
    super::provenance::schema_of::<Document>()
}
