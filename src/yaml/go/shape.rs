//! The style in which a string is printed.

use std::borrow::Cow;

use crate::yaml::scalar::resolve::{Reader, Scalar, resolve_plain};
use crate::yaml::scalar::timestamp::rfc3339;

/// The styles that a text allows, as libyaml's analysis of a scalar determines them.
#[expect(clippy::struct_excessive_bools, reason = "libyaml's analysis has these flags")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScalarAnalysis {
    /// Whether the text has line breaks.
    pub(super) multiline: bool,
    plain: bool,
    single: bool,
    block: bool,
}

impl ScalarAnalysis {
    const SIMPLE: Self = Self { multiline: false, plain: true, single: true, block: true };

    pub(super) fn of(text: &str) -> Self {
        if text.is_empty() {
            return Self { block: false, ..Self::SIMPLE };
        }
        let marker = text.starts_with("---") || text.starts_with("...");
        if !marker && is_word(text.as_bytes()) {
            return Self::SIMPLE;
        }
        Self::scan(text, marker)
    }

    /// Analyzes the characters of a text; `marker` is true if the text starts like a document marker.
    fn scan(text: &str, marker: bool) -> Self {
        let mut shape = Self { plain: !marker, ..Self::SIMPLE };
        let (mut space, mut broken, mut blank) = (false, false, true);
        let mut chars = text.chars().peekable();
        let mut first = true;
        while let Some(c) = chars.next() {
            let next = chars.peek().copied();
            let before_blank = next.is_none_or(|next| matches!(next, ' ' | '\t'));
            let indicates = match c {
                ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => first,
                '?' | '-' => first && before_blank,
                ':' => before_blank,
                '#' => blank,
                _ => false,
            };
            shape.plain &= !indicates;
            if !is_printable(c) {
                (shape.plain, shape.single, shape.block) = (false, false, false);
            }
            let (is_space, is_break) = (c == ' ', is_break(c));
            if (is_space || is_break) && (first || next.is_none()) {
                shape.plain = false;
            }
            if is_space {
                if next.is_none() {
                    shape.block = false;
                }
                if broken {
                    (shape.plain, shape.single) = (false, false);
                }
            } else if is_break {
                (shape.multiline, shape.plain) = (true, false);
                if space {
                    (shape.single, shape.block) = (false, false);
                }
            }
            (space, broken, first) = (is_space, is_break, false);
            blank = is_space || is_break || matches!(c, '\t' | '\0');
        }
        shape
    }
}

/// Returns whether no character of a text has a meaning in YAML. This is true of almost all texts.
fn is_word(text: &[u8]) -> bool {
    let starts = |first: &u8| first.is_ascii_alphanumeric() || matches!(first, b'_' | b'.' | b'/' | b'$' | b'(');
    text.first().is_some_and(starts) && text.last() != Some(&b':') && text.iter().all(u8::is_ascii_graphic)
}

/// The text after kustomize's conversion to JSON and back. The reader of the JSON folds U+0085 as a line break.
pub(super) fn fold_next_line_characters(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.contains('\u{85}') {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut lines = text.split('\u{85}').peekable();
    let (mut first, mut empty) = (true, 0);
    while let Some(line) = lines.next() {
        let line = if first { line } else { line.trim_start_matches(' ') };
        let line = if lines.peek().is_some() { line.trim_end_matches(' ') } else { line };
        if first {
            out.push_str(line);
        } else if line.is_empty() && lines.peek().is_some() {
            empty += 1;
        } else {
            out.push_str(if empty == 0 { " " } else { "" });
            out.extend(std::iter::repeat_n('\n', empty));
            out.push_str(line);
            empty = 0;
        }
        first = false;
    }
    Cow::Owned(out)
}

/// The style in which a string is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrintedStyle {
    /// Without quotes, on one line or folded.
    Plain,
    /// In single quotes.
    Single,
    /// In double quotes.
    Double,
    /// As a literal block.
    Literal,
}

impl PrintedStyle {
    /// The style of a string as a value.
    pub fn of(text: &str) -> Self {
        Self::for_analysis(text, ScalarAnalysis::of(text))
    }

    /// Returns whether a text can be printed without quotes, regardless of the type that readers resolve.
    pub fn is_plain(text: &str) -> bool {
        ScalarAnalysis::of(text).plain
    }

    pub(super) fn for_analysis(text: &str, shape: ScalarAnalysis) -> Self {
        if text.contains('\n') {
            return if shape.block { Self::Literal } else { Self::Double };
        }
        match shape {
            _ if is_typed(text) => Self::Double,
            ScalarAnalysis { plain: true, .. } => Self::Plain,
            ScalarAnalysis { single: true, .. } => Self::Single,
            _ => Self::Double,
        }
    }
}

/// Returns whether readers would resolve a text without quotes to a type other than string.
fn is_typed(text: &str) -> bool {
    let Some(first) = text.bytes().next() else { return true };
    match first {
        b'0'..=b'9' | b'+' | b'-' | b'.' => {
            let number = |byte: u8| byte.is_ascii_hexdigit() || b"xXoO_+-.:tTzZ inIN".contains(&byte);
            text.bytes().all(number)
                && (resolve_plain(text, Reader::Kubernetes) != Scalar::String(text)
                    || rfc3339(text).is_some()
                    || is_sexagesimal(text))
        }
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => {
            text.len() <= 5 && resolve_plain(text, Reader::Kubernetes) != Scalar::String(text)
        }
        _ => false,
    }
}

/// Returns whether a text is a sexagesimal number of YAML 1.1, such as `1:20`, which is 80.
fn is_sexagesimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = unsigned.split(':');
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let whole = parts.next().is_some_and(|whole| whole.starts_with(|c: char| c.is_ascii_digit()) && digits(whole));
    let mut parts = parts.peekable();
    if !whole || parts.peek().is_none() {
        return false;
    }
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        let (part, fraction) = match part.split_once('.') {
            Some((part, fraction)) if last => (part, fraction),
            Some(_) => return false,
            None => (part, ""),
        };
        let sixty = match part.as_bytes() {
            [digit] => digit.is_ascii_digit(),
            [tens, digit] => matches!(tens, b'0'..=b'5') && digit.is_ascii_digit(),
            _ => false,
        };
        if !sixty || !digits(fraction) {
            return false;
        }
    }
    true
}

pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns whether libyaml writes a character literally. libyaml escapes tabs and characters above U+FFFF.
pub(super) fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FEFE}' | '\u{FF00}'..='\u{FFFD}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortcut_for_words_agrees_with_the_analysis() {
        let all = || (0..=0x7Fu8).map(char::from);
        for (first, second) in all().flat_map(|first| all().map(move |second| (first, second))) {
            for text in [
                format!("{first}"),
                format!("{first}{second}"),
                format!("{first}{second}x"),
                format!("x{first}{second}"),
            ] {
                if is_word(text.as_bytes()) {
                    assert_eq!(ScalarAnalysis::scan(&text, false), ScalarAnalysis::SIMPLE, "{text:?}");
                }
            }
        }
    }
}
