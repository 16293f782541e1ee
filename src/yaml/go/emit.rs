//! The layout of a document: indentation, line breaks, and keys on the line of their value.

use std::ops::Range;

use super::fold::normalized;
use super::number;
use super::order;
use super::shape::{self, ScalarAnalysis};
use crate::yaml::scalar::resolve::{Reader, Scalar, resolve_plain};
use crate::yaml::scalar::timestamp::plain_time;
use crate::yaml::tree::node::{Entry, Node, Style, Value};

/// The length of the longest key, in bytes, that is written without a question mark.
const MAX_SIMPLE_KEY: usize = 128;

/// The column after which a line is folded, at the first space.
const WIDTH: usize = 80;

/// A range of the printed text, and its node or key.
#[derive(Debug, Clone)]
pub struct Segment<'a> {
    /// The byte range in the text.
    pub range: Range<usize>,
    /// The printed node or key.
    pub part: Part<'a>,
}

/// The node or key that a range of the printed text represents.
#[derive(Debug, Clone, Copy)]
pub enum Part<'a> {
    /// The key of an entry.
    Key(&'a Entry),
    /// A scalar or an empty collection.
    Leaf(&'a Node),
    /// The dash of an item of a sequence.
    Dash(&'a Node),
}

/// Writes a document. The flags are the flags of libyaml's emitter, which determine the line breaks.
#[derive(Debug)]
pub(super) struct Emitter<'a, 's> {
    segments: Option<&'s mut Vec<Segment<'a>>>,
    pub(super) out: String,
    /// The number of characters in the last line.
    pub(super) column: usize,
    /// Whether the last character is a separator, so that the next token needs no space.
    pub(super) whitespace: bool,
    /// Whether the line has only indentation and indicators so far.
    pub(super) indention: bool,
    /// The entries of the open mappings, in print order.
    entries: Vec<&'a Entry>,
    /// The number of open collections that the file writes with brackets.
    brackets: usize,
}

impl<'a, 's> Emitter<'a, 's> {
    pub(super) fn new(segments: Option<&'s mut Vec<Segment<'a>>>) -> Self {
        Self {
            segments,
            out: String::new(),
            column: 0,
            whitespace: true,
            indention: true,
            entries: Vec::new(),
            brackets: 0,
        }
    }

    pub(super) fn document(mut self, node: &'a Node) -> String {
        self.node(node, None, false);
        self.line(0);
        self.out
    }

    /// Writes a value; `outer` is the indentation of its collection.
    fn node(&mut self, node: &'a Node, outer: Option<usize>, in_mapping: bool) {
        let brackets = self.brackets;
        match &node.value {
            Value::Map(entries) if !entries.is_empty() => {
                self.brackets += usize::from(node.has_brackets());
                self.mapping(entries, outer);
            }
            Value::Seq(items) if !items.is_empty() => {
                self.brackets += usize::from(node.has_brackets());
                self.sequence(items, outer, in_mapping);
            }
            // Between brackets, kustomize writes an empty value as empty quotes, and then reads the object again.
            Value::Scalar(text, Style::Plain) if text.is_empty() && self.brackets > 0 => {
                let start = self.scalar("", Style::Single, deeper(outer));
                self.mark(start, Part::Leaf(node));
            }
            Value::Map(_) => self.empty("{}", node),
            Value::Seq(_) => self.empty("[]", node),
            Value::Scalar(text, style) => {
                let start = self.scalar(text, *style, deeper(outer));
                self.mark(start, Part::Leaf(node));
            }
        }
        self.brackets = brackets;
    }

    fn empty(&mut self, text: &str, node: &'a Node) {
        self.indicator(text, false, false);
        self.mark(self.out.len() - text.len(), Part::Leaf(node));
    }

    fn mapping(&mut self, entries: &'a [Entry], outer: Option<usize>) {
        let indent = outer.map_or(0, |outer| outer + 2);
        let base = self.entries.len();
        self.entries.extend(entries);
        if let Some(mine) = self.entries.get_mut(base..) {
            order::sort(mine);
        }
        for at in base..base + entries.len() {
            let Some(entry) = self.entries.get(at).copied() else { continue };
            self.line(indent);
            self.key(entry, indent);
            self.node(&entry.node, Some(indent), true);
        }
        self.entries.truncate(base);
    }

    fn key(&mut self, entry: &'a Entry, indent: usize) {
        let key = shape::fold_next_line_characters(&entry.key);
        let shape = ScalarAnalysis::of(&key);
        let simple = !shape.multiline && key.len() <= MAX_SIMPLE_KEY;
        if !simple {
            self.indicator("?", false, true);
        }
        let start = self.string(&key, shape, simple, indent + 2);
        self.mark(start, Part::Key(entry));
        if !simple {
            self.line(indent);
        }
        self.separate(!simple);
        self.indicator(":", false, !simple);
    }

    fn sequence(&mut self, items: &'a [Node], outer: Option<usize>, in_mapping: bool) {
        let indent = match outer {
            None => 0,
            // The dashes have the indentation of the key, unless the key needs a question mark.
            Some(outer) if in_mapping && !self.indention => outer,
            Some(outer) => outer + 2,
        };
        for item in items {
            self.line(indent);
            self.indicator("-", false, true);
            self.mark(self.out.len() - 1, Part::Dash(item));
            self.node(item, Some(indent), false);
        }
    }

    /// Writes a scalar and returns its start.
    fn scalar(&mut self, text: &str, style: Style, indent: usize) -> usize {
        let scalar = if style == Style::Plain { resolve_plain(text, Reader::Kustomize) } else { Scalar::String(text) };
        let text = match scalar {
            Scalar::String(text) => text,
            other => {
                self.separate(true);
                let start = self.out.len();
                number::write(&mut self.out, other);
                self.column += self.out.len() - start;
                (self.whitespace, self.indention) = (false, false);
                return start;
            }
        };
        // A plain date becomes a time, which is printed as a string.
        if style == Style::Plain
            && let Some(time) = plain_time(text, self.brackets > 0)
        {
            return self.string(&time, ScalarAnalysis::of(&time), false, indent);
        }
        let text = normalized(text, style);
        self.string(&text, ScalarAnalysis::of(&text), false, indent)
    }

    /// Writes a token other than a scalar, after a space if the token needs one.
    pub(super) fn indicator(&mut self, text: &str, is_whitespace: bool, is_indention: bool) {
        if text != ":" {
            self.separate(true);
        }
        self.out.push_str(text);
        self.column += text.len();
        self.whitespace = is_whitespace;
        self.indention &= is_indention;
    }

    /// Writes the space before a token, if the token needs one.
    pub(super) fn separate(&mut self, needed: bool) {
        if needed && !self.whitespace {
            self.out.push(' ');
            self.column += 1;
        }
    }

    /// Starts a line with an indentation. If the current line has only indentation, this function reuses it.
    pub(super) fn line(&mut self, indent: usize) {
        if !self.indention || self.column > indent || (self.column == indent && !self.whitespace) {
            self.out.push('\n');
            self.column = 0;
        }
        while self.column < indent {
            self.out.push(' ');
            self.column += 1;
        }
        (self.whitespace, self.indention) = (true, true);
    }

    /// Returns whether a space at the current column may become a line break.
    pub(super) fn is_wide(&self) -> bool {
        self.column > WIDTH
    }

    /// Returns whether a text of this many bytes may reach the column at which lines are folded.
    pub(super) fn could_fold(&self, len: usize) -> bool {
        self.column + len + 2 > WIDTH
    }

    fn mark(&mut self, start: usize, part: Part<'a>) {
        let range = start..self.out.len();
        if let Some(segments) = &mut self.segments {
            segments.push(Segment { range, part });
        }
    }
}

/// Returns an indentation that is two spaces deeper than `outer`.
fn deeper(outer: Option<usize>) -> usize {
    outer.map_or(2, |outer| outer + 2)
}
