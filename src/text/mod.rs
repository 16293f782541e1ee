//! Text and positions: files, spans, edits and trees. This module is independent of YAML and has no I/O.

#![expect(clippy::string_slice, reason = "only this module slices, on boundaries that it has checked")]

mod index;
mod lines;
mod git_name;
mod file;
mod reads;
mod tree;
mod edit;

pub use edit::{Edit, apply, edited, is_editable};
pub use file::{DecodeError, File, Position, SharedTexts, Span};
pub use git_name::is_git_name;
pub use index::Index;
pub use lines::lines;
pub use reads::{Read, Reads};
pub use tree::Entry;
pub use tree::LoadError;
pub use tree::Loader;
pub use tree::PathKind;
pub use tree::Tree;
pub use tree::folder_of;
pub use tree::is_inside;
pub use tree::join;
pub use tree::normalize;
