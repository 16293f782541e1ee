//! YAML with positions: nodes that know where they came from, a parser that never fails, a printer.

mod conventional;
mod decode;
mod json;
mod node;
mod parse;
mod path;
mod print;
mod quote;
mod resolve;

pub use conventional::conventional;
pub use decode::{DecodeError, decode, raw, text};
pub use json::{from_json, to_json};
pub use node::{By, Entry, Name, Node, Origin, Piece, Step, Style, Value};
pub use parse::{DUPLICATE_KEY, Document, INVALID_YAML, Parsed, parse};
pub use path::{Key, Path};
pub use print::print;
pub use resolve::{Reader, Scalar};
