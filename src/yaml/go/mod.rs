//! Nodes → text, byte for byte as kustomize and Flux print them.
//!
//! kustomize turns an object into JSON and that into YAML with go-yaml 2: keys in natural order, sequences not indented
//! below their key, long lines folded, numbers written as Go writes them. Flux substitutes variables in this very text,
//! so how it quotes and folds decides what a variable may do. `testdata/oracles/printer` records the real program.

mod number;
mod order;
mod shape;
mod fold;
mod emit;
mod refuse;
mod styles;

pub use emit::{Part, Segment};
pub use fold::{is_lost_as_block, normalized};
pub use refuse::print_error;
pub use shape::PrintedStyle;

use crate::yaml::tree::node::Node;
use emit::Emitter;

/// Prints one object as kustomize does; several documents are these texts with `---` lines between them.
pub fn print(node: &Node) -> String {
    Emitter::new(None).document(node)
}

/// Prints one object, and says which part of the text shows which key or scalar, in the order of the text.
pub fn print_mapped(node: &Node) -> (String, Vec<Segment<'_>>) {
    let mut segments = Vec::new();
    let text = Emitter::new(Some(&mut segments)).document(node);
    (text, segments)
}
