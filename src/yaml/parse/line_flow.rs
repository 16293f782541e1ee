//! The flow collections of documents that consist of lines.
//!
//! A function returns `None` for a collection that needs the event parser.

use granit_parser::ScalarStyle;

use super::line_scalars::quoted;
use super::lines::{Lines, MAX_KEY, style_of};

/// The maximum depth of nested flow collections.
const MAX_FLOW: usize = 32;

impl Lines<'_, '_> {
    /// Reads a flow collection, and returns its end.
    pub(super) fn flow(&mut self, start: usize, depth: usize) -> Option<usize> {
        (depth < MAX_FLOW && !self.builder.is_deep() && !self.builder.is_full()).then_some(())?;
        let is_seq = self.byte(start) == Some(b'[');
        let close = if is_seq { b']' } else { b'}' };
        if is_seq {
            self.builder.open_seq(true, 0, start..start + 1);
        } else {
            self.builder.open_map(true, 0, start..start + 1);
        }
        let mut at = self.skip_blanks(start + 1)?;
        while self.byte(at) != Some(close) {
            (!self.builder.is_full()).then_some(())?;
            if !is_seq {
                at = self.flow_key(at)?;
            }
            at = match self.byte(at)? {
                b'[' | b'{' => self.flow(at, depth + 1)?,
                _ => self.flow_scalar(at)?,
            };
            at = self.skip_blanks(at)?;
            match self.byte(at)? {
                b',' => at = self.skip_blanks(at + 1)?,
                byte if byte == close => {}
                _ => return None,
            }
        }
        self.builder.close(&(at..at + 1));
        Some(at + 1)
    }

    /// Skips spaces and line breaks. A further line has the indentation of the scalars in its place.
    fn skip_blanks(&self, at: usize) -> Option<usize> {
        let mut line = at;
        loop {
            let next = self.skip_spaces(line);
            match self.byte(next) {
                Some(b'\n') => line = next + 1,
                _ if line == at => return Some(next),
                _ => return (next - line >= self.min_indent() && !self.starts(next, "...")).then_some(next),
            }
        }
    }

    /// Reads a key and its colon, and returns the start of its value.
    fn flow_key(&mut self, at: usize) -> Option<usize> {
        let end = self.flow_scalar(at)?;
        let is_line = !self.text.get(at..end)?.contains('\n') && end - at <= MAX_KEY;
        let is_gap = matches!(self.byte(end + 1), Some(b' ' | b'\n')) || matches!(self.byte(at), Some(b'"' | b'\''));
        (is_line && is_gap && self.byte(end) == Some(b':')).then_some(())?;
        self.skip_blanks(end + 1)
    }

    /// Reads a scalar of a flow collection, and returns its end.
    fn flow_scalar(&mut self, at: usize) -> Option<usize> {
        if let Some(first @ (b'"' | b'\'')) = self.byte(at) {
            let scalar = quoted(self.text, at, self.min_indent())?;
            self.builder.scalar(&scalar.value, style_of(first), 0, None, at..scalar.end);
            return Some(scalar.end);
        }
        let is_plain = self.starts_plain(at) && self.byte(at) != Some(b'-');
        is_plain.then_some(())?;
        let rest = self.text.as_bytes().get(at..)?;
        let is_end = |(offset, byte): (usize, &u8)| match byte {
            b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'\t' | b'\n' => true,
            b':' => !rest.get(offset + 1).is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'/'),
            _ => false,
        };
        let end = rest.iter().enumerate().position(is_end)?;
        let value = self.text.get(at..at + end)?;
        let trimmed = value.trim_end_matches(' ');
        // A blank before a colon, and a comment, are rare.
        let is_usual = matches!(rest.get(end), Some(b',' | b']' | b'}' | b'\n'));
        (is_usual || trimmed.len() == value.len()).then_some(())?;
        self.builder.scalar(trimmed, ScalarStyle::Plain, 0, None, at..at + trimmed.len());
        Some(at + trimmed.len())
    }
}
