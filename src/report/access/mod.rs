//! What accounts may do where, for people and for programs.

mod description;
mod document;
mod json;
mod text;

use std::io::{self, Write};

pub use description::{AccessOf, means};
pub use json::schema;

/// How it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessFormat {
    /// For people.
    Table,
    /// For programs.
    Json,
}

/// Writes accesses; `root` is the folder that was read.
pub fn write(all: &[AccessOf<'_>], format: AccessFormat, root: &str, out: &mut dyn Write) -> io::Result<()> {
    match format {
        AccessFormat::Table => text::write(all, root, out),
        AccessFormat::Json => json::write(all, out),
    }
}
