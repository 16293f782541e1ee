//! Documents that consist of lines: block collections, and scalars and small flow collections in them.
//!
//! Nearly all manifests are such documents. Their lines and indentations show the structure, so no tokens and events are
//! necessary, and this reader is several times as fast as the event parser. It leaves every other document to the event
//! parser, which also reports all errors. For a document that it reads, it builds the nodes that the event parser builds.

use granit_parser::ScalarStyle;
use memchr::{memchr, memchr3_iter};

use super::builder::Builder;
use super::line_scalars::{Block, block_scalar, is_printable, plain_lines, quoted};
use crate::text::Index;
use crate::yaml::tree::node::Node;

/// The maximum length of a key in bytes. The event parser has a limit that is a little higher.
pub(super) const MAX_KEY: usize = 1000;

/// Reads documents from an offset. Returns the start of the first document that needs the event parser, if there is one.
pub(super) fn read(builder: &mut Builder<'_>, documents: &mut Vec<Node>, base: usize) -> Option<usize> {
    let text = builder.file.text();
    if !is_printable(text.get(base..).unwrap_or_default()) {
        return Some(base);
    }
    let mut next = base;
    while next < text.len() {
        let mut lines = Lines {
            builder,
            text,
            line: next,
            open: Vec::new(),
            awaits: true,
            value: 0,
            anchors: Index::default(),
            anchor_count: 0,
            anchor: 0,
        };
        lines.builder.start_document(next);
        let Some(end) = lines.document() else {
            builder.restart_document();
            return Some(next);
        };
        documents.extend(builder.finish());
        next = end;
    }
    None
}

/// An open block collection.
#[derive(Clone, Copy)]
struct Open {
    indent: usize,
    is_seq: bool,
}

/// The end of a plain scalar on its line.
#[derive(Clone, Copy)]
enum PlainEnd {
    /// The scalar is a key, and its colon is at this offset.
    Colon(usize),
    /// A comment starts at this offset.
    Comment(usize),
    /// The scalar ends with the line, or continues on the next line.
    Line(usize),
}

pub(super) struct Lines<'a, 'b> {
    pub(super) builder: &'b mut Builder<'a>,
    pub(super) text: &'a str,
    /// The start of the current line.
    line: usize,
    /// The open block collections, the innermost last.
    open: Vec<Open>,
    /// Whether the innermost collection, or the document, awaits a value.
    awaits: bool,
    /// The end of the colon or dash before the value.
    value: usize,
    /// The last anchor with each name. The anchors of a document are numbered from 1.
    anchors: Index<&'a str, usize>,
    /// The number of anchors so far.
    anchor_count: usize,
    /// The anchor before the value, or 0.
    anchor: usize,
}

impl<'a> Lines<'a, '_> {
    /// Reads the document at the current line, and returns its end: the marker of the next document, or the end of the file.
    fn document(&mut self) -> Option<usize> {
        let mut is_marked = false;
        while let Some(at) = self.next_content() {
            let is_start = at == self.line;
            if is_start && (self.starts(at, "...") || self.byte(at) == Some(b'%')) {
                return None;
            }
            if is_start && self.starts(at, "---") {
                self.is_gap(at + 3).then_some(())?;
                if is_marked || !self.awaits || !self.open.is_empty() {
                    break;
                }
                is_marked = true;
                self.builder.start_document(at + 3);
                self.end_line(at + 3)?;
                continue;
            }
            if self.builder.is_full() {
                return None;
            }
            self.close_deeper(at - self.line, self.is_dash(at))?;
            self.content(at)?;
        }
        self.finish_value();
        while self.open.pop().is_some() {
            self.builder.close(&(0..0));
        }
        (!self.builder.is_full()).then_some(self.line)
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    pub(super) fn starts(&self, at: usize, prefix: &str) -> bool {
        self.text.as_bytes().get(at..).is_some_and(|rest| rest.starts_with(prefix.as_bytes()))
    }

    /// Returns whether a blank, the end of the line or the end of the text is at an offset.
    fn is_gap(&self, at: usize) -> bool {
        matches!(self.byte(at), None | Some(b' ' | b'\n'))
    }

    fn is_dash(&self, at: usize) -> bool {
        self.byte(at) == Some(b'-') && self.is_gap(at + 1)
    }

    pub(super) fn skip_spaces(&self, mut at: usize) -> usize {
        while self.byte(at) == Some(b' ') {
            at += 1;
        }
        at
    }

    /// The end of the line at an offset, without its line break.
    pub(super) fn end_of_line(&self, at: usize) -> usize {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        at + memchr(b'\n', rest).unwrap_or(rest.len())
    }

    fn next_line(&mut self, end: usize) {
        self.line = (end + 1).min(self.text.len());
    }

    /// Skips blank lines and comments. Returns the first character of the next line with content.
    fn next_content(&mut self) -> Option<usize> {
        loop {
            let at = self.skip_spaces(self.line);
            match self.byte(at) {
                None => {
                    self.line = at;
                    return None;
                }
                Some(b'\n') => self.next_line(at),
                Some(b'#') => self.next_line(self.end_of_line(at)),
                Some(_) => return Some(at),
            }
        }
    }

    /// Skips the blanks and the comment after a token, and moves to the next line.
    fn end_line(&mut self, end: usize) -> Option<()> {
        let at = self.skip_spaces(end);
        match self.byte(at) {
            None | Some(b'\n') => self.next_line(at),
            Some(b'#') if at > end => self.next_line(self.end_of_line(at)),
            Some(_) => return None,
        }
        Some(())
    }

    /// Closes the collections that end before a line with an indentation.
    fn close_deeper(&mut self, indent: usize, is_dash: bool) -> Option<()> {
        while let Some(inner) = self.open.last().copied() {
            if indent > inner.indent || (indent == inner.indent && is_dash && !inner.is_seq) {
                // A sequence may have the indentation of its key.
                return self.awaits.then_some(());
            }
            self.finish_value();
            if indent == inner.indent && is_dash == inner.is_seq {
                return Some(());
            }
            self.builder.close(&(0..0));
            self.open.pop();
        }
        self.awaits.then_some(())
    }

    /// Adds an empty value if the innermost collection awaits a value.
    fn finish_value(&mut self) {
        if std::mem::take(&mut self.awaits) && !self.open.is_empty() {
            self.builder.scalar("", ScalarStyle::Plain, 0, None, self.value..self.value);
        }
    }

    /// Reads the rest of a line, from its first character.
    fn content(&mut self, mut at: usize) -> Option<()> {
        while self.is_dash(at) {
            self.enter(at, true)?;
            self.awaits = true;
            self.value = at + 1;
            let next = self.skip_spaces(at + 1);
            if matches!(self.byte(next), None | Some(b'\n' | b'#')) {
                return self.end_line(at + 1);
            }
            at = next;
        }
        let first = self.byte(at)?;
        if matches!(first, b'"' | b'\'') {
            let scalar = quoted(self.text, at, self.min_indent())?;
            if self.byte(scalar.end) != Some(b':') {
                return self.scalar(&scalar.value, style_of(first), at, scalar.end);
            }
            let is_key = !self.text.get(at..scalar.end)?.contains('\n');
            is_key.then_some(())?;
            return self.entry(&scalar.value, style_of(first), at, scalar.end);
        }
        if !self.starts_plain(at) {
            return self.collection_or_block(at);
        }
        match self.plain_end(at)? {
            PlainEnd::Colon(colon) => {
                let key = self.text.get(at..colon).filter(|key| !key.ends_with(' '))?;
                self.entry(key, ScalarStyle::Plain, at, colon)
            }
            end => self.plain(at, end),
        }
    }

    /// The minimum indentation of the further lines of a scalar.
    pub(super) fn min_indent(&self) -> usize {
        self.open.last().map_or(0, |inner| inner.indent + 1)
    }

    /// Opens the collection of an entry that starts at an offset, unless it is the innermost one.
    fn enter(&mut self, at: usize, is_seq: bool) -> Option<()> {
        let indent = at - self.line;
        if !self.awaits {
            return self.open.last().filter(|inner| inner.indent == indent && inner.is_seq == is_seq).map(|_| ());
        }
        (!self.builder.is_deep()).then_some(())?;
        if is_seq {
            self.builder.open_seq(false, 0, at..at);
        } else {
            self.builder.open_map(false, 0, at..at);
        }
        self.open.push(Open { indent, is_seq });
        self.awaits = false;
        Some(())
    }

    /// Reads an entry of a mapping, whose colon is at an offset.
    fn entry(&mut self, key: &str, style: ScalarStyle, at: usize, colon: usize) -> Option<()> {
        (self.is_gap(colon + 1) && colon - at <= MAX_KEY).then_some(())?;
        self.enter(at, false)?;
        self.builder.scalar(key, style, 0, None, at..colon);
        self.awaits = true;
        self.value = colon + 1;
        let next = self.skip_spaces(colon + 1);
        match self.byte(next) {
            None | Some(b'\n' | b'#') => self.end_line(colon + 1),
            Some(first @ (b'"' | b'\'')) => {
                let scalar = quoted(self.text, next, self.min_indent())?;
                self.scalar(&scalar.value, style_of(first), next, scalar.end)
            }
            Some(_) if !self.starts_plain(next) => self.collection_or_block(next),
            Some(_) => {
                let end = self.plain_end(next)?;
                self.plain(next, end)
            }
        }
    }

    /// Adds a scalar, after which the line ends.
    fn scalar(&mut self, value: &str, style: ScalarStyle, start: usize, end: usize) -> Option<()> {
        (!self.open.is_empty() && std::mem::take(&mut self.awaits)).then_some(())?;
        self.builder.scalar(value, style, std::mem::take(&mut self.anchor), None, start..end);
        self.end_line(end)
    }

    /// Returns whether a plain scalar may start at an offset.
    pub(super) fn starts_plain(&self, at: usize) -> bool {
        match self.byte(at) {
            None | Some(b'?' | b':') => false,
            Some(b'-') => !self.is_gap(at + 1),
            Some(byte) => !b",[]{}#&*!|>'\"%@`".contains(&byte),
        }
    }

    /// The end of the plain scalar at an offset; `None` if the line has a tab.
    fn plain_end(&self, at: usize) -> Option<PlainEnd> {
        let end = self.end_of_line(at);
        let line = self.text.as_bytes().get(at..end).unwrap_or_default();
        for sign in memchr3_iter(b':', b'#', b'\t', line) {
            match line.get(sign) {
                Some(b'\t') => return None,
                Some(b':') if self.is_gap(at + sign + 1) => return Some(PlainEnd::Colon(at + sign)),
                Some(b'#') if sign > 0 && line.get(sign - 1) == Some(&b' ') => {
                    return Some(PlainEnd::Comment(at + sign));
                }
                _ => {}
            }
        }
        Some(PlainEnd::Line(end))
    }

    /// Reads a plain scalar, which may have further lines.
    fn plain(&mut self, at: usize, end: PlainEnd) -> Option<()> {
        let (end, is_whole) = match end {
            PlainEnd::Colon(_) => return None,
            PlainEnd::Comment(end) => (end, true),
            PlainEnd::Line(end) => (end, false),
        };
        if is_whole {
            let value = self.text.get(at..end)?.trim_end_matches(' ');
            return self.scalar(value, ScalarStyle::Plain, at, at + value.len());
        }
        let scalar = plain_lines(self.text, at..end, self.min_indent())?;
        self.scalar(&scalar.value, ScalarStyle::Plain, at, scalar.end)
    }

    /// Reads a flow collection or a block scalar.
    fn collection_or_block(&mut self, at: usize) -> Option<()> {
        match self.byte(at)? {
            b'[' | b'{' if self.awaits => {
                self.awaits = false;
                let end = self.flow(at, 0)?;
                self.end_line(end)
            }
            b'|' | b'>' if self.awaits && !self.open.is_empty() => {
                self.awaits = false;
                let Block { value, style, end } = block_scalar(self.text, at, self.min_indent())?;
                self.builder.scalar(&value, style, 0, None, at..end);
                self.line = end;
                Some(())
            }
            b'&' => {
                let name = self.anchor_name(at + 1)?;
                let value = self.skip_spaces(at + 1 + name.len());
                self.anchor_count += 1;
                self.anchor = self.anchor_count;
                self.anchors.insert(name, self.anchor);
                self.anchored(value)
            }
            b'*' if self.awaits && !self.open.is_empty() => {
                self.awaits = false;
                let name = self.anchor_name(at + 1)?;
                let anchor = *self.anchors.get(name)?;
                let end = at + 1 + name.len();
                self.builder.alias(anchor, at..end);
                self.end_line(end)
            }
            _ => None,
        }
    }

    /// The name of an anchor at an offset, which a blank or the end of the line follows.
    fn anchor_name(&self, at: usize) -> Option<&'a str> {
        let rest = self.text.get(at..)?;
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let len = rest.bytes().take_while(is_part).count();
        rest.get(..len).filter(|name| !name.is_empty() && self.is_gap(at + len))
    }

    /// Reads a scalar after its anchor.
    fn anchored(&mut self, at: usize) -> Option<()> {
        match self.byte(at)? {
            quote @ (b'"' | b'\'') => {
                let scalar = quoted(self.text, at, self.min_indent())?;
                self.scalar(&scalar.value, style_of(quote), at, scalar.end)
            }
            b'\n' => None,
            _ if self.starts_plain(at) => {
                let end = self.plain_end(at)?;
                self.plain(at, end)
            }
            _ => None,
        }
    }
}

pub(super) fn style_of(quote: u8) -> ScalarStyle {
    if quote == b'"' { ScalarStyle::DoubleQuoted } else { ScalarStyle::SingleQuoted }
}
