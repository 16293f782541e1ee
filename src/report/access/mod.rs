//! Output of the rights of accounts as tables and JSON.

mod description;
mod document;
mod json;
mod text;

use std::io::{self, Write};

pub use description::{AccessReport, describe_means};
pub use json::schema;

/// The output format of rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessFormat {
    /// Tables for terminals.
    Table,
    /// JSON for programs.
    Json,
}

/// Writes the rights of accounts; `root` is the input directory.
pub fn write(all: &[AccessReport<'_>], format: AccessFormat, root: &str, out: &mut dyn Write) -> io::Result<()> {
    match format {
        AccessFormat::Table => text::write(all, root, out),
        AccessFormat::Json => json::write(all, out),
    }
}
