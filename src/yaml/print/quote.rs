//! The style in which a string survives printing and parsing.

use std::fmt::Write as _;

use crate::yaml::scalar::resolve::{Reader, Scalar, resolve_plain};

/// The context of a scalar in block style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// A key, before a colon.
    Key,
    /// A value, after a colon or a dash.
    Value,
}

/// Returns whether every reader of YAML 1.1 and 1.2 resolves a text in plain style to this string.
pub(super) fn is_plain_word(text: &str, place: Context) -> bool {
    is_plain_text(text, place)
        && [Reader::Kubernetes, Reader::Core].iter().all(|reader| resolve_plain(text, *reader) == Scalar::String(text))
        && !looks_typed(text)
}

/// Returns whether a text can be written in plain style on one line, regardless of the type that readers resolve.
pub(super) fn is_plain_text(text: &str, place: Context) -> bool {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return false };
    let starts = match first {
        '-' | '?' | ':' => chars.next().is_some_and(|next| next != ' '),
        ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' | ' ' => false,
        _ => true,
    };
    starts
        && text.chars().all(is_printable)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.starts_with("---")
        && !text.starts_with("...")
        // A plain `<<` is a merge key.
        && !(place == Context::Key && text == "<<")
}

/// Returns whether a reader could resolve a text to a type other than string: dates, `1:20` for 80, `=`, `0x1p3`.
fn looks_typed(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = unsigned.strip_prefix('.').unwrap_or(unsigned);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return matches!(text, "=" | "<<");
    }
    // A number has at most one point; a version such as 1.2.3 has two.
    let date = |text: &str| {
        let mut parts = text.splitn(3, '-');
        let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let (year, month, rest) = (parts.next(), parts.next(), parts.next());
        year.is_some_and(|year| year.len() == 4 && all_digits(year))
            && month.is_some_and(|month| month.len() <= 2 && all_digits(month))
            && rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let number = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'_' | b':' | b'.' | b'+' | b'-'));
    let points = text.matches('.').count();
    date(text) || (number && points < 2 && !digits.contains('-')) || is_radix(digits) || is_exponent(digits)
}

fn is_radix(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let digits = |prefix: &str, radix| {
        lower.strip_prefix(prefix).is_some_and(|rest| rest.chars().all(|c| c == '_' || c.is_digit(radix)))
    };
    digits("0x", 16) || digits("0b", 2) || digits("0o", 8)
}

/// Returns whether a text is a number with an exponent for some reader, such as `1e400` and `1_0.5e+3`.
fn is_exponent(text: &str) -> bool {
    let Some((mantissa, power)) = text.split_once(['e', 'E']) else { return false };
    let digits = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'_' | b'.'));
    let power = power.strip_prefix(['+', '-']).unwrap_or(power);
    digits(mantissa) && !power.is_empty() && power.bytes().all(|byte| byte.is_ascii_digit())
}

/// Writes a text of several lines as a literal block. Returns `false`, and writes nothing, if a block changes the text.
pub(super) fn block(out: &mut String, text: &str, indent: usize) -> bool {
    let body = text.trim_end_matches('\n');
    let breaks = text.len() - body.len();
    if !text.contains('\n')
        || body.trim().is_empty()
        || !text.chars().all(|c| c == '\n' || c == '\t' || is_printable(c))
    {
        return false;
    }
    // kustomize's reader treats a tab at the start of the first line as indentation.
    if body.trim_start_matches('\n').starts_with('\t') {
        return false;
    }
    // Readers may drop a last line of blanks.
    if body.rsplit('\n').next().is_none_or(|line| line.trim().is_empty()) {
        return false;
    }
    out.push('|');
    // Without an indicator, the first line that is not empty determines the indentation.
    if body.trim_start_matches('\n').starts_with(' ') {
        out.push('2');
    }
    match breaks {
        0 => out.push('-'),
        1 => {}
        _ => out.push('+'),
    }
    out.push('\n');
    for line in body.split('\n') {
        if !line.is_empty() {
            let _ = write!(out, "{:indent$}{line}", "");
        }
        out.push('\n');
    }
    for _ in 1..breaks {
        out.push('\n');
    }
    true
}

/// Writes a text in double quotes.
pub(super) fn double(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_printable(c) => out.push(c),
            c => {
                let code = u32::from(c);
                let _ = match code {
                    0..=0xFF => write!(out, "\\x{code:02X}"),
                    0x100..=0xFFFF => write!(out, "\\u{code:04X}"),
                    _ => write!(out, "\\U{code:08X}"),
                };
            }
        }
    }
    out.push('"');
}

/// Returns whether a character is printed literally: no control character, line break or byte order mark.
fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}')
}
