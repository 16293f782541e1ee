//! The division of a text into tokens.

use std::ops::Range;

use super::fault::SyntaxError;
use super::literal::{read_bytes, read_text};

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token<'a> {
    /// A name.
    Name(&'a str),
    /// A number as written.
    Number(&'a str),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// An operator, a bracket, or the word `in`.
    Symbol(&'static str),
    /// The end of the text.
    End,
}

/// The symbols. A longer symbol precedes its prefixes.
const SYMBOLS: [&str; 24] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*",
    "/", "%",
];

/// Divides a text into tokens with their ranges. The last token is [`Token::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token<'_>, Range<usize>)>, SyntaxError> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = skip(rest);
        let start = text.len() - rest.len();
        if rest.is_empty() {
            tokens.push((Token::End, start..start));
            return Ok(tokens);
        }
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let (token, after) = next(rest).map_err(|message| SyntaxError { at: start..start + first, message })?;
        tokens.push((token, start..text.len() - after.len()));
        rest = after;
    }
}

/// Skips white space and comments.
fn skip(text: &str) -> &str {
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start_matches(['\t', ' ', '\r', '\n', '\u{c}']);
        match trimmed.strip_prefix("//") {
            Some(comment) => rest = comment.find('\n').and_then(|end| comment.get(end..)).unwrap_or_default(),
            None => return trimmed,
        }
    }
}

/// The first token of a text and the rest.
fn next(text: &str) -> Result<(Token<'_>, &str), String> {
    if let Some((token, rest)) = quoted(text) {
        return token.map(|token| (token, rest));
    }
    let is_fraction = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    if is_fraction(text) || text.strip_prefix('.').is_some_and(is_fraction) {
        let (number, rest) = split(text, number_length(text));
        return Ok((Token::Number(number), rest));
    }
    if text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        let length = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
        let (name, rest) = split(text, length);
        return Ok((if name == "in" { Token::Symbol("in") } else { Token::Name(name) }, rest));
    }
    for symbol in SYMBOLS {
        if let Some(rest) = text.strip_prefix(symbol) {
            return Ok((Token::Symbol(symbol), rest));
        }
    }
    let wrong: String = text.chars().take(1).collect();
    if wrong == "`" {
        return Err("unsupported syntax: '`'".into());
    }
    Err(format!("Syntax error: token recognition error at: '{wrong}'"))
}

fn split(text: &str, at: usize) -> (&str, &str) {
    text.split_at_checked(at).unwrap_or((text, ""))
}

/// The length of the number at the start of a text.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
    };
    let has = |at: usize, wanted: &[u8]| text.as_bytes().get(at).is_some_and(|byte| wanted.contains(byte));
    if has(0, b"0") && has(1, b"x") {
        let rest = text.get(2..).unwrap_or_default();
        let count = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
        if count > 0 {
            return 2 + count + usize::from(has(2 + count, b"uU"));
        }
        return 1;
    }
    let whole = digits(0);
    let mut end = whole;
    let mut is_float = false;
    if has(end, b".") && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
        is_float = true;
    }
    if has(end, b"eE") {
        let sign = usize::from(has(end + 1, b"+-"));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
            is_float = true;
        }
    }
    end + usize::from(!is_float && has(end, b"uU"))
}

/// The quoted text at the start of a text, if there is one, and the rest.
fn quoted(text: &str) -> Option<(Result<Token<'_>, String>, &str)> {
    let (is_bytes, rest) = text.strip_prefix(['b', 'B']).map_or((false, text), |rest| (true, rest));
    let (is_raw, rest) = rest.strip_prefix(['r', 'R']).map_or((false, rest), |rest| (true, rest));
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| rest.starts_with(quote))?;
    let body = rest.strip_prefix(quote)?;
    let Some(end) = closing(body, quote, is_raw) else {
        let start: String = text.chars().take(20).collect();
        return Some((Err(format!("Syntax error: token recognition error at: '{start}'")), ""));
    };
    let (body, after) = split(body, end);
    let after = after.strip_prefix(quote).unwrap_or_default();
    let token = match (is_bytes, is_raw) {
        (true, _) => read_bytes(body, is_raw).map(Token::Bytes),
        (false, _) => read_text(body, is_raw).map(Token::Text),
    };
    Some((token, after))
}

/// The length of a quoted text up to its closing quote.
fn closing(body: &str, quote: &str, is_raw: bool) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in body.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' && !is_raw {
            is_escaped = true;
        } else if body.get(at..).is_some_and(|rest| rest.starts_with(quote)) {
            return Some(at);
        } else if quote.len() == 1 && matches!(c, '\n' | '\r') {
            return None;
        }
    }
    None
}
