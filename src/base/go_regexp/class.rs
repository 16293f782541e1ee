//! Character classes.

use std::fmt::Write as _;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::refused::Refused;

/// The characters of a class.
#[derive(Debug, Clone)]
pub(super) struct Characters(ClassUnicode);

impl Characters {
    /// The empty class.
    pub(super) fn none() -> Self {
        Self(ClassUnicode::empty())
    }

    /// The characters between two code points, without the surrogates, which text cannot contain.
    pub(super) fn range(low: u32, high: u32) -> Self {
        let low = if (0xD800..0xE000).contains(&low) { 0xE000 } else { low };
        let high = if (0xD800..0xE000).contains(&high) { 0xD7FF } else { high };
        let range = char::from_u32(low).zip(char::from_u32(high)).filter(|(low, high)| low <= high);
        Self(ClassUnicode::new(range.map(|(low, high)| ClassUnicodeRange::new(low, high))))
    }

    /// The characters of `\d`, `\s` and `\w`, which are ASCII.
    pub(super) fn perl(letter: char) -> Option<Self> {
        let ranges: &[(char, char)] = match letter.to_ascii_lowercase() {
            'd' => &[('0', '9')],
            's' => &[('\t', '\n'), ('\x0C', '\r'), (' ', ' ')],
            'w' => WORD,
            _ => return None,
        };
        Some(Self::of(ranges))
    }

    /// The characters of `[:name:]`.
    pub(super) fn posix(name: &str) -> Option<Self> {
        let ranges: &[(char, char)] = match name {
            "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
            "alpha" => &[('A', 'Z'), ('a', 'z')],
            "ascii" => &[('\0', '\x7F')],
            "blank" => &[('\t', '\t'), (' ', ' ')],
            "cntrl" => &[('\0', '\x1F'), ('\x7F', '\x7F')],
            "digit" => &[('0', '9')],
            "graph" => &[('!', '~')],
            "lower" => &[('a', 'z')],
            "print" => &[(' ', '~')],
            "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
            "space" => &[('\t', '\r'), (' ', ' ')],
            "upper" => &[('A', 'Z')],
            "word" => WORD,
            "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
            _ => return None,
        };
        Some(Self::of(ranges))
    }

    /// The characters of a Unicode category or script.
    pub(super) fn unicode(name: &str) -> Result<Self, Refused> {
        // Go supports only categories and scripts. Go's lookup ignores the case, spaces, hyphens and underscores.
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_');
        if !name.chars().all(is_name) {
            return Err(Refused::Class);
        }
        let read = |property: &str| {
            let hir = regex_syntax::Parser::new().parse(&format!(r"\p{{{property}={name}}}")).ok()?;
            match hir.into_kind() {
                HirKind::Class(Class::Unicode(class)) => Some(Self(class)),
                _ => None,
            }
        };
        read("gc").or_else(|| read("sc")).ok_or(Refused::Class)
    }

    fn of(ranges: &[(char, char)]) -> Self {
        Self(ClassUnicode::new(ranges.iter().map(|(low, high)| ClassUnicodeRange::new(*low, *high))))
    }

    /// Adds the characters of another class.
    pub(super) fn add(&mut self, other: &Self) {
        self.0.union(&other.0);
    }

    /// Adds all characters that differ only in case from a character of the class.
    pub(super) fn folded(mut self) -> Self {
        self.0.try_case_fold_simple().expect("the tables are compiled in");
        self
    }

    /// The characters that are not in the class.
    pub(super) fn negated(mut self) -> Self {
        self.0.negate();
        self
    }

    /// Writes the class in the syntax of `regex-lite`.
    pub(super) fn write(&self, out: &mut String) {
        let character = |c: char, out: &mut String| {
            if c.is_ascii_alphanumeric() {
                out.push(c);
            } else {
                let _ = write!(out, "\\x{{{:X}}}", u32::from(c));
            }
        };
        if self.0.ranges().is_empty() {
            out.push_str(r"[^\x{0}-\x{10FFFF}]");
            return;
        }
        out.push('[');
        for range in self.0.ranges() {
            character(range.start(), out);
            out.push('-');
            character(range.end(), out);
        }
        out.push(']');
    }
}

const WORD: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
