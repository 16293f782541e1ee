//! Nodes → text, byte for byte as kustomize and Flux print them.
//!
//! kustomize turns an object into JSON and that into YAML with go-yaml 2: keys in natural order, sequences not indented
//! below their key, long lines folded, numbers written as Go writes them. Flux substitutes variables in this very text,
//! so how it quotes and folds decides what a variable may do. `testdata/oracles/printer` records the real program.

mod number;
mod order;
mod shape;
mod emit;
mod fold;
mod refuse;
mod styles;

pub use emit::{Part, Segment};
pub use refuse::refusal;
pub use shape::Form;

use std::borrow::Cow;

use super::{Node, Style};
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

/// The text of a string that was written in a style, as kustomize prints it: its way of writing a folded block and
/// reading it again adds empty lines or joins lines.
pub fn settled(text: &str, style: Style) -> Cow<'_, str> {
    let folded = if style == Style::Folded { fold::refolded(text) } else { Cow::Borrowed(text) };
    match shape::settled(&folded) {
        Cow::Borrowed(_) => folded,
        Cow::Owned(text) => Cow::Owned(text),
    }
}

/// Tells whether a string of several lines cannot be read again once go-yaml 3 has written it as a block: it begins
/// with a tab, which the reader takes for indentation. Strings that go through JSON on their way are written so.
pub fn is_lost_as_block(text: &str) -> bool {
    text.starts_with('\t') && text.contains('\n') && fold::is_block(text)
}
