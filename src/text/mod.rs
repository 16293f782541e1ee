//! Bytes and positions: files, spans, edits, trees. Knows no YAML and does no I/O.

#![expect(clippy::string_slice, reason = "the one place that slices, on boundaries it has checked")]

mod file;
mod edit;
mod index;
mod tree;

pub use edit::{Edit, apply};
pub use file::{DecodeError, File, Position, Span};
pub use index::Index;
pub use tree::{Entry, Load, LoadError, Resolved, Tree, folder_of, is_inside, join, normalize};
