//! The parser of texts with `${…}`, which reproduces the corner cases of `fluxcd/pkg/envsubst`.

use std::ops::Range;

use super::fault::{Fault, FaultKind};
use super::operator::Operator;

/// The maximum nesting depth of `${…}`.
const MAX_DEPTH: usize = 100;

/// The maximum distance from a fault to the closing brace, if the finding includes the brace.
const MAX_SHOWN: usize = 40;

/// A part of a template or of an argument.
#[derive(Debug, Clone)]
pub(super) enum Part<'t> {
    Text(Text),
    Call(Call<'t>),
}

/// Consecutive ranges of the template, without the escaping characters.
#[derive(Debug, Clone, Default)]
pub(super) struct Text(pub(super) Vec<Range<usize>>);

/// A `${…}`.
#[derive(Debug, Clone)]
pub(super) struct Call<'t> {
    pub(super) range: Range<usize>,
    pub(super) name: &'t str,
    pub(super) operator: Operator,
    pub(super) arguments: Vec<Part<'t>>,
}

/// The escape sequences of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// No escape sequence.
    None,
    /// `$$` is `$`.
    Dollar,
    /// `$$` is `$`, `\/` is `/` and `\\` is `\`.
    All,
}

pub(super) fn parse(text: &str) -> Result<Vec<Part<'_>>, Fault> {
    let mut parser = Parser { text, at: 0, calls: Vec::new() };
    let mut parts = Vec::new();
    while parser.peek().is_some() {
        if parser.opens() {
            parts.push(Part::Call(parser.call()?));
        } else {
            parts.push(Part::Text(parser.text(Escapes::Dollar, None)));
        }
    }
    Ok(parts)
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    /// The offsets of the open `${`.
    calls: Vec<usize>,
}

impl<'t> Parser<'t> {
    /// The rest of the text. A zero byte ends the text.
    fn rest(&self) -> &'t str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if rest.as_bytes().first() == Some(&0) { "" } else { rest }
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn opens(&self) -> bool {
        self.rest().starts_with("${")
    }

    /// Parses text up to `${`, or up to a character that `accepts` rejects.
    fn text(&mut self, escapes: Escapes, accepts: Option<fn(char) -> bool>) -> Text {
        let mut ranges = Vec::new();
        let mut start = self.at;
        while let Some(c) = self.peek() {
            if accepts.is_none() {
                let said = self.rest().bytes().position(|byte| matches!(byte, b'$' | b'\\' | 0));
                let plain = said.unwrap_or(self.rest().len());
                self.at += plain;
                if plain > 0 {
                    continue;
                }
            }
            let after = self.rest().get(c.len_utf8()..).and_then(|rest| rest.chars().next());
            if c == '$' && after == Some('{') {
                break;
            }
            let escapes = match c {
                '$' => escapes != Escapes::None && after == Some('$'),
                '\\' => escapes == Escapes::All && matches!(after, Some('/' | '\\')),
                _ => false,
            };
            if escapes {
                ranges.push(start..self.at);
                start = self.at + 1;
                self.at += 2;
            } else if accepts.is_none_or(|accepts| accepts(c)) {
                self.at += c.len_utf8();
            } else {
                break;
            }
        }
        ranges.push(start..self.at);
        ranges.retain(|range| !range.is_empty());
        Text(ranges)
    }

    /// Reads at most `most` characters that `accepts` accepts.
    fn run(&mut self, most: usize, accepts: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let len = rest.chars().take(most).take_while(|c| accepts(*c)).map(char::len_utf8).sum();
        self.at += len;
        rest.get(..len).unwrap_or_default()
    }

    /// Parses a `${…}`.
    fn call(&mut self) -> Result<Call<'t>, Fault> {
        let start = self.at;
        self.calls.push(start);
        self.at += 2;
        if self.calls.len() > MAX_DEPTH {
            return Err(self.fault(FaultKind::TooDeep));
        }
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let mut arguments = Vec::new();
        let (name, operator);
        if self.peek() == Some('#') {
            self.at += 1;
            (name, operator) = (self.run(usize::MAX, is_name), Operator::Length);
            if name.is_empty() {
                return Err(self.fault(FaultKind::NoName));
            }
            self.close(FaultKind::Malformed)?;
        } else {
            name = self.run(usize::MAX, is_name);
            if name.is_empty() {
                return Err(self.fault(FaultKind::NoName));
            }
            operator = self.operation(&mut arguments)?;
        }
        self.calls.pop();
        Ok(Call { range: start..self.at, name, operator, arguments })
    }

    /// Parses the operator and arguments after a name.
    fn operation(&mut self, arguments: &mut Vec<Part<'t>>) -> Result<Operator, Fault> {
        let not_closing = |c| c != '}';
        match self.peek() {
            Some(':') => return self.colon(arguments),
            Some('=') => {
                self.at += 1;
                self.default(arguments)?;
                return Ok(Operator::Default);
            }
            Some(',' | '^') => {
                let operator = Operator::casing(self.run(2, |c| matches!(c, ',' | '^')));
                self.close(FaultKind::Malformed)?;
                return Ok(operator);
            }
            Some(mark @ ('#' | '%')) => {
                let operator = Operator::trimming(self.run(2, |c| c == mark));
                arguments.push(self.argument(Escapes::None, not_closing)?);
                self.close(FaultKind::Malformed)?;
                return Ok(operator);
            }
            Some('/') => {}
            _ => {
                self.close(FaultKind::NotClosed)?;
                return Ok(Operator::Value);
            }
        }
        let slash = self.run(1, |c| c == '/').len() + self.run(1, |c| matches!(c, '/' | '#' | '%')).len();
        let operator = Operator::replacing(self.text.get(self.at - slash..self.at).unwrap_or_default());
        // The text to replace may contain a brace: it extends to the next slash.
        arguments.push(self.argument(Escapes::All, |c| c != '/')?);
        if self.run(usize::MAX, |c| c == '/').is_empty() {
            return Err(self.fault(FaultKind::Malformed));
        }
        if self.peek() != Some('}') {
            arguments.push(self.argument(Escapes::All, not_closing)?);
        }
        self.close(FaultKind::Malformed)?;
        Ok(operator)
    }

    /// Parses an operator that starts with a colon: a default or a substring.
    fn colon(&mut self, arguments: &mut Vec<Part<'t>>) -> Result<Operator, Fault> {
        self.at += 1;
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some('=' | '-' | '?' | '+') => {
                self.at += 1;
                self.default(arguments)?;
                return Ok(Operator::Default);
            }
            Some(c) if c.is_ascii() => {}
            // At a character outside ASCII, Flux's parser loses its position.
            _ => return Err(self.fault(FaultKind::Malformed)),
        }
        arguments.push(self.argument(Escapes::None, |c| c != ':' && c != '}')?);
        if self.peek() == Some('}') {
            self.at += 1;
            return Ok(Operator::Substring);
        }
        if self.run(usize::MAX, |c| c == ':').is_empty() {
            return Err(self.fault(FaultKind::Malformed));
        }
        arguments.push(self.argument(Escapes::None, |c| c != '}')?);
        self.close(FaultKind::Malformed)?;
        Ok(Operator::Substring)
    }

    /// Parses a default of any number of parts, and the closing brace.
    fn default(&mut self, arguments: &mut Vec<Part<'t>>) -> Result<(), Fault> {
        while self.peek() != Some('}') {
            arguments.push(self.argument(Escapes::None, |c| c != '}')?);
        }
        self.at += 1;
        Ok(())
    }

    /// Parses one part of an argument, which must not be empty.
    fn argument(&mut self, escapes: Escapes, accepts: fn(char) -> bool) -> Result<Part<'t>, Fault> {
        if self.opens() {
            return self.call().map(Part::Call);
        }
        let start = self.at;
        let text = self.text(escapes, Some(accepts));
        if self.at == start { Err(self.fault(FaultKind::NoArgument)) } else { Ok(Part::Text(text)) }
    }

    fn close(&mut self, otherwise: FaultKind) -> Result<(), Fault> {
        if self.peek() != Some('}') {
            return Err(self.fault(otherwise));
        }
        self.at += 1;
        Ok(())
    }

    /// A fault in the innermost `${…}`. Its range ends at a nearby closing brace or at the fault, within the line.
    fn fault(&self, kind: FaultKind) -> Fault {
        let start = self.calls.last().copied().unwrap_or_default();
        let rest = self.text.get(start..).unwrap_or_default();
        let read = rest.ceil_char_boundary((self.at + 1 - start).min(rest.len()));
        let line = rest.find('\n').unwrap_or(rest.len());
        let brace = rest.get(read - 1..line).and_then(|rest| rest.find('}')).filter(|len| *len < MAX_SHOWN);
        Fault { range: start..start + brace.map_or(read.min(line), |len| read + len), kind }
    }
}
