//! YAML with positions: nodes that know where they came from, a parser that never fails, a printer.

mod base64;
mod build;
mod conventional;
mod decode;
mod fault;
pub mod go;
mod inside;
mod json;
mod kubernetes;
mod node;
mod open;
mod parse;
mod path;
mod print;
mod quote;
mod resolve;
mod tag;
mod timestamp;
mod token;
mod verbatim;

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
