//! YAML nodes with positions, a parser that recovers from errors, and printers.

mod tree;
mod scalar;
mod convert;
pub mod go;
mod parse;
mod print;
pub mod fix;

pub use convert::decode::{DecodeError, decode};
pub use convert::json::{from_json, key_to_json, to_json};
pub use convert::kubernetes::as_kubernetes;
pub use convert::verbatim::{raw, text};
pub(crate) use parse::builder::SECOND_OBJECT;
pub use parse::embedded::Embedded;
pub use parse::parser::{Document, Parsed, parse};
pub use parse::rule_ids::{DUPLICATE_KEY, INVALID_YAML};
pub use print::comments::Comments;
pub use print::field_order::conventional_order;
pub use print::printer::{print, print_with};
pub use scalar::base64::decode_base64;
pub use scalar::resolve::{Reader, Scalar};
pub(crate) use scalar::timestamp::plain_time;
pub use tree::list::List;
pub use tree::node::{Entry, Node, Style, Value};
pub use tree::origin::{ChangedBy, Name, Origin, Piece, ValueChange};
pub use tree::path::{Key, Path};
