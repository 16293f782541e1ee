//! YAML with positions: nodes that know where they came from, a parser that never fails, a printer.

mod base64;
mod node;
mod conventional;
mod open;
mod path;
mod resolve;
mod decode;
mod quote;
mod print;
mod tag;
mod timestamp;
pub mod go;
mod json;
mod kubernetes;
mod verbatim;
mod inside;
mod token;
mod fault;
mod build;
mod parse;

pub use base64::decode_base64;
pub use conventional::conventional;
pub use decode::{DecodeError, decode};
pub use inside::Inside;
pub use json::{from_json, key_to_json, to_json};
pub use kubernetes::as_kubernetes;
pub use node::{By, Entry, Name, Node, Origin, Piece, Step, Style, Value};
pub use parse::{DUPLICATE_KEY, Document, INVALID_YAML, Parsed, parse};
pub use path::{Key, Path};
pub use print::print;
pub use resolve::{Reader, Scalar};
pub use verbatim::{raw, text};
