//! YAML with positions: nodes that know where they came from, a parser that never fails, a printer.

mod node;
mod parse;
mod path;

pub use node::{By, Entry, Name, Node, Origin, Piece, Step, Style, Value};
pub use parse::{DUPLICATE_KEY, Document, INVALID_YAML, Parsed, parse};
pub use path::{Key, Path};
