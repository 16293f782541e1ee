//! The lexer of templates. `<<` and `>>` delimit actions. A `-` and a space beside a delimiter trim the adjacent text.

use std::ops::Range;

use super::fault::Fault;

/// A token and its byte range in the template.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub kind: Kind,
    pub at: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text outside of actions, trimmed.
    Outside,
    Open,
    Close,
    Space,
    Assign,
    Declare,
    Pipe,
    Comma,
    OpenParen,
    CloseParen,
    Quoted,
    Raw,
    Char,
    Number,
    Variable,
    Field,
    Dot,
    Word,
    End,
}

/// Splits a template into tokens; the last token is [`Kind::End`].
pub(super) fn lex(text: &str) -> Result<Vec<Token>, Fault> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new() };
    lexer.run()?;
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn run(&mut self) -> Result<(), Fault> {
        while let Some(open) = self.rest().find("<<") {
            let (start, open) = (self.at, self.at + open);
            let trims = starts_trim(self.after(open + 2));
            let outside = self.text.get(start..open).unwrap_or_default();
            let kept = if trims { trim_end(outside).len() } else { outside.len() };
            self.push_outside(start..start + kept);
            self.at = open + if trims { 4 } else { 2 };
            if self.rest().starts_with("/*") {
                self.comment(open)?;
                continue;
            }
            self.tokens.push(Token { kind: Kind::Open, at: open..self.at });
            self.action(open)?;
        }
        self.push_outside(self.at..self.text.len());
        self.tokens.push(Token { kind: Kind::End, at: self.text.len()..self.text.len() });
        Ok(())
    }

    fn rest(&self) -> &str {
        self.after(self.at)
    }

    fn after(&self, at: usize) -> &str {
        self.text.get(at..).unwrap_or_default()
    }

    fn push_outside(&mut self, at: Range<usize>) {
        if !at.is_empty() {
            self.tokens.push(Token { kind: Kind::Outside, at });
        }
    }

    fn comment(&mut self, open: usize) -> Result<(), Fault> {
        let end = self.rest().find("*/").ok_or_else(|| Fault::error(open, "unclosed comment"))?;
        self.at += end + 2;
        if !self.close() {
            return Err(Fault::error(
                open,
                "a comment must be the only content of its action: write `*/` directly before `>>`",
            ));
        }
        Ok(())
    }

    /// Skips the end of an action at this position, and the spaces that this end trims.
    fn close(&mut self) -> bool {
        if ends_trim(self.rest()) {
            self.at += 4;
            self.at += self.rest().len() - self.rest().trim_start_matches(is_space).len();
            return true;
        }
        let closes = self.rest().starts_with(">>");
        if closes {
            self.at += 2;
        }
        closes
    }

    fn action(&mut self, open: usize) -> Result<(), Fault> {
        let mut parens = 0_usize;
        loop {
            let start = self.at;
            if self.close() {
                if parens > 0 {
                    return Err(Fault::error(open, "unclosed parenthesis"));
                }
                self.tokens.push(Token { kind: Kind::Close, at: start..self.at });
                return Ok(());
            }
            let Some(first) = self.rest().chars().next() else {
                return Err(Fault::error(open, "unclosed action: `>>` is missing"));
            };
            let kind = match first {
                _ if is_space(first) => {
                    // The space before `->>` belongs to the delimiter.
                    while self.rest().starts_with(is_space) && !ends_trim(self.rest()) {
                        self.at += 1;
                    }
                    Kind::Space
                }
                '=' => self.take(1, Kind::Assign),
                ':' if self.rest().starts_with(":=") => self.take(2, Kind::Declare),
                '|' => self.take(1, Kind::Pipe),
                ',' => self.take(1, Kind::Comma),
                '(' => {
                    parens += 1;
                    self.take(1, Kind::OpenParen)
                }
                ')' => {
                    parens = parens.checked_sub(1).ok_or_else(|| Fault::error(start, "unexpected `)`"))?;
                    self.take(1, Kind::CloseParen)
                }
                '"' => self.quoted('"', Kind::Quoted)?,
                '\'' => self.quoted('\'', Kind::Char)?,
                '`' => {
                    let end = self.after(start + 1).find('`');
                    let end = end.ok_or_else(|| Fault::error(start, "unclosed raw string"))?;
                    self.take(end + 2, Kind::Raw)
                }
                '$' => self.name(1, Kind::Variable)?,
                '.' if !self.after(start + 1).starts_with(|c: char| c.is_ascii_digit()) => {
                    if self.after(start + 1).starts_with(is_word) { self.name(1, Kind::Field)? } else { self.dot()? }
                }
                '.' | '+' | '-' | '0'..='9' => self.number()?,
                _ if is_word(first) => self.name(0, Kind::Word)?,
                _ => return Err(Fault::error(start, format!("unexpected `{first}` in an action"))),
            };
            self.tokens.push(Token { kind, at: start..self.at });
        }
    }

    fn take(&mut self, len: usize, kind: Kind) -> Kind {
        self.at += len;
        kind
    }

    fn quoted(&mut self, quote: char, kind: Kind) -> Result<Kind, Fault> {
        let start = self.at;
        let mut escaped = false;
        let rest = self.after(start + 1).char_indices();
        for (at, character) in rest {
            match character {
                '\n' => break,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if character == quote => return Ok(self.take(at + 2, kind)),
                _ => {}
            }
        }
        Err(Fault::error(start, "unclosed string"))
    }

    fn name(&mut self, skip: usize, kind: Kind) -> Result<Kind, Fault> {
        let start = self.at;
        let name = self.after(start + skip);
        self.at += skip + (name.len() - name.trim_start_matches(is_word).len());
        self.terminated(start).map(|()| kind)
    }

    fn dot(&mut self) -> Result<Kind, Fault> {
        self.at += 1;
        self.terminated(self.at - 1).map(|()| Kind::Dot)
    }

    /// Checks that a delimiter follows a name.
    fn terminated(&self, start: usize) -> Result<(), Fault> {
        let rest = self.rest();
        let ends = rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n', '.', ',', '|', ':', ')', '(']);
        if ends || rest.starts_with(">>") {
            return Ok(());
        }
        let next = rest.chars().next().unwrap_or_default();
        Err(Fault::error(start, format!("unexpected `{next}` after `{}`", self.text.get(start..self.at).unwrap_or(""))))
    }

    fn number(&mut self) -> Result<Kind, Fault> {
        let start = self.at;
        let rest = self.rest();
        let mut end = 0;
        let mut last = ' ';
        for character in rest.chars() {
            let sign = matches!(character, '+' | '-') && (end == 0 || matches!(last, 'e' | 'E' | 'p' | 'P'));
            if !(sign || character == '.' || is_word(character)) {
                break;
            }
            end += character.len_utf8();
            last = character;
        }
        self.at += end;
        match number(self.text.get(start..self.at).unwrap_or_default()) {
            Some(_) => Ok(Kind::Number),
            None => Err(Fault::error(
                start,
                format!("`{}` is not a valid number", self.text.get(start..self.at).unwrap_or("")),
            )),
        }
    }
}

/// A number in Go's syntax: an integer, or a number with a point or an exponent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Int(i64),
    Float(f64),
}

/// Parses a number; `None` if the number is invalid or does not fit an `int`.
pub(super) fn number(text: &str) -> Option<Number> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let plain = digits.replace('_', "");
    let lower = plain.to_ascii_lowercase();
    let radix = |prefix: &str, radix: u32| Some((lower.strip_prefix(prefix)?.to_owned(), radix));
    let (digits, radix) = radix("0x", 16)
        .or_else(|| radix("0b", 2))
        .or_else(|| radix("0o", 8))
        .or_else(|| (lower.len() > 1 && lower.bytes().all(|b| b.is_ascii_digit())).then(|| radix("0", 8)).flatten())
        .unwrap_or((lower.clone(), 10));
    if !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix)) {
        let value = i128::from_str_radix(&digits, radix).ok()?;
        return i64::try_from(if negative { -value } else { value }).ok().map(Number::Int);
    }
    let float = lower.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'+' | b'-'));
    let value: f64 = lower.parse().ok().filter(|value: &f64| float && value.is_finite())?;
    Some(Number::Float(if negative { -value } else { value }))
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

fn is_word(character: char) -> bool {
    character == '_' || character.is_alphabetic() || character.is_numeric()
}

fn starts_trim(after: &str) -> bool {
    after.strip_prefix('-').is_some_and(|rest| rest.starts_with(is_space))
}

fn ends_trim(rest: &str) -> bool {
    rest.strip_prefix(is_space).is_some_and(|rest| rest.starts_with("->>"))
}

fn trim_end(text: &str) -> &str {
    text.trim_end_matches(is_space)
}
