//! Printing of strings in each style.

use std::fmt::Write as _;

use super::emit::Emitter;
use super::shape::{PrintedStyle, ScalarAnalysis, is_break, is_printable};

impl Emitter<'_, '_> {
    /// Writes a string in the style that the string needs, and returns its start.
    pub(super) fn string(&mut self, text: &str, shape: ScalarAnalysis, simple_key: bool, indent: usize) -> usize {
        match PrintedStyle::for_analysis(text, shape) {
            PrintedStyle::Plain => self.plain(text, simple_key, indent),
            PrintedStyle::Single => self.single(text, simple_key, indent),
            PrintedStyle::Double => self.double(text, simple_key, indent),
            PrintedStyle::Literal => self.literal(text, indent),
        }
    }

    fn plain(&mut self, text: &str, simple_key: bool, indent: usize) -> usize {
        self.separate(true);
        let start = self.out.len();
        (self.whitespace, self.indention) = (false, false);
        if simple_key || !self.could_fold(text.len()) {
            self.column += text.chars().count();
            self.out.push_str(text);
            return start;
        }
        let mut space = false;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c == ' ' {
                if !space && self.is_wide() && chars.peek() != Some(&' ') {
                    self.line(indent);
                } else {
                    self.put(c);
                }
                space = true;
            } else {
                self.put(c);
                (space, self.indention) = (false, false);
            }
        }
        (self.whitespace, self.indention) = (false, false);
        start
    }

    fn single(&mut self, text: &str, simple_key: bool, indent: usize) -> usize {
        self.indicator("'", false, false);
        let start = self.out.len() - 1;
        let (mut space, mut broken, mut first) = (false, false, true);
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let next = chars.peek();
            if c == ' ' {
                if !simple_key && !space && self.is_wide() && !first && next.is_some_and(|next| *next != ' ') {
                    self.line(indent);
                } else {
                    self.put(c);
                }
                space = true;
            } else if is_break(c) {
                self.put_break(c);
                (broken, self.indention) = (true, true);
            } else {
                if broken {
                    self.line(indent);
                }
                if c == '\'' {
                    self.put('\'');
                }
                self.put(c);
                (space, broken, self.indention) = (false, false, false);
            }
            first = false;
        }
        self.put('\'');
        (self.whitespace, self.indention) = (false, false);
        start
    }

    fn double(&mut self, text: &str, simple_key: bool, indent: usize) -> usize {
        self.indicator("\"", false, false);
        let start = self.out.len() - 1;
        // libyaml checks for a byte order mark at the start of the text, not at the current character.
        let marked = text.starts_with('\u{FEFF}');
        let (mut space, mut first) = (false, true);
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let next = chars.peek();
            if marked || !is_printable(c) || is_break(c) || matches!(c, '"' | '\\') {
                self.escape(c);
                space = false;
            } else if c == ' ' {
                if !simple_key && !space && self.is_wide() && !first && next.is_some() {
                    self.line(indent);
                    if next == Some(&' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(c);
                }
                space = true;
            } else {
                self.put(c);
                space = false;
            }
            first = false;
        }
        self.put('"');
        (self.whitespace, self.indention) = (false, false);
        start
    }

    fn literal(&mut self, text: &str, indent: usize) -> usize {
        self.indicator("|", false, false);
        let start = self.out.len() - 1;
        if text.starts_with(|c| c == ' ' || is_break(c)) {
            self.put('2');
        }
        let mut end = text.chars().rev();
        match (end.next().is_some_and(is_break), end.next()) {
            (false, _) => self.put('-'),
            (true, None) => self.put('+'),
            (true, Some(c)) if is_break(c) => self.put('+'),
            (true, Some(_)) => {}
        }
        self.put_break('\n');
        (self.whitespace, self.indention) = (true, true);
        let mut broken = true;
        for c in text.chars() {
            if is_break(c) {
                self.put_break(c);
                (broken, self.indention) = (true, true);
            } else {
                if broken {
                    self.line(indent);
                }
                self.put(c);
                (broken, self.indention) = (false, false);
            }
        }
        start
    }

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn put_break(&mut self, c: char) {
        self.out.push(c);
        self.column = 0;
    }

    fn escape(&mut self, c: char) {
        let start = self.out.len();
        escape(&mut self.out, c);
        self.column += self.out.len() - start;
    }
}

fn escape(out: &mut String, c: char) {
    let short = match c {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{B}' => 'v',
        '\u{C}' => 'f',
        '\r' => 'r',
        '\u{1B}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{A0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => {
            let code = u32::from(c);
            let _ = match code {
                0..=0xFF => write!(out, "\\x{code:02X}"),
                0x100..=0xFFFF => write!(out, "\\u{code:04X}"),
                _ => write!(out, "\\U{code:08X}"),
            };
            return;
        }
    };
    out.push('\\');
    out.push(short);
}
