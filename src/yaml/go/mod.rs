//! The conversion of nodes to text, byte for byte as kustomize and Flux print them, and the names of fields as Go reads
//! them.
//!
//! kustomize converts an object to JSON, and the JSON to YAML with go-yaml 2. The output has keys in natural order,
//! sequences without indentation below their key, folded long lines, and numbers in Go's format. Flux substitutes
//! variables in this text, so the quotes and folds of the text determine the effect of a variable.
//! `testdata/oracles/printer` records the output of kustomize.

mod number;
mod order;
mod shape;
mod fold;
mod emit;
mod field_name;
mod refuse;
mod styles;

pub use emit::{Part, Segment};
pub use field_name::is_field;
pub use fold::{is_lost_as_block, normalized};
pub use refuse::print_error;
pub use shape::PrintedStyle;

use crate::yaml::tree::node::Node;
use emit::Emitter;

/// Prints one object as kustomize does. A stream of documents consists of such texts, separated by `---` lines.
pub fn print(node: &Node) -> String {
    Emitter::new(None).document(node)
}

/// Prints one object, and returns the range of each key, scalar and dash, in the order of the text.
pub fn print_mapped(node: &Node) -> (String, Vec<Segment<'_>>) {
    let mut segments = Vec::new();
    let text = Emitter::new(Some(&mut segments)).document(node);
    (text, segments)
}
