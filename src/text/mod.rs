//! Bytes and positions: files, spans, edits, trees. Independent of YAML, without I/O.

#![expect(clippy::string_slice, reason = "only this module slices, on boundaries that it has checked")]

mod file;
mod edit;
mod index;
mod tree;

pub use edit::{Edit, apply};
pub use file::{DecodeError, File, Position, Span};
pub use index::Index;
pub use tree::{Entry, LoadError, Loader, PathKind, Tree, folder_of, is_inside, join, normalize};
