//! The expansion of a parsed template to text, with the values of its variables.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use super::fault::{Fault, FaultKind};
use super::operator::Operator;
use super::parse::{Call, Part};
use super::pattern::{self, Trim};
use super::template::Template;

/// The maximum number of steps for all patterns of an object.
pub(crate) const MAX_STEPS: usize = 2_000_000;

/// The maximum size of an expanded object, in bytes.
const MAX_LEN: usize = 4 << 20;

/// The result of the lookup of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup<'v> {
    /// A known value.
    Known(&'v str),
    /// An unknown value.
    Unknown,
    /// The variable is not set, which is an error without a default.
    NotSet,
}

/// An expanded text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expansion {
    /// The text.
    pub text: String,
    /// The pieces of the text, in order, without gaps.
    pub pieces: Vec<Piece>,
}

/// A range of the expanded text and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The byte range in the expanded text.
    pub output: Range<usize>,
    /// The byte range in the template: the same text, or a `${…}`.
    pub source: Range<usize>,
    /// The variable; `None` for text of the template.
    pub variable: Option<Box<str>>,
    /// Whether the value is unknown. If so, the text is `${NAME}`.
    pub unknown: bool,
}

/// The value of a `${…}` or of an argument.
struct Value<'a> {
    text: Cow<'a, str>,
    /// The variable that provides the value: the named variable, or a variable in the default.
    variable: Option<&'a str>,
    unknown: bool,
}

struct Expander<'a, 'v> {
    template: &'a Template<'a>,
    lookup: &'a dyn Fn(&str) -> Lookup<'v>,
    /// The remaining number of steps for pattern matching.
    steps: &'a Cell<usize>,
}

impl Template<'_> {
    /// Expands the variables.
    pub fn expand<'v>(&self, lookup: impl Fn(&str) -> Lookup<'v>) -> Result<Expansion, Fault> {
        self.expand_within(lookup, &Cell::new(MAX_STEPS))
    }

    /// Expands the variables with a remaining number of steps for patterns.
    pub fn expand_within<'v>(
        &self,
        lookup: impl Fn(&str) -> Lookup<'v>,
        steps: &Cell<usize>,
    ) -> Result<Expansion, Fault> {
        expand(self, &lookup, steps)
    }
}

fn expand<'v>(
    template: &Template<'_>,
    lookup: &dyn Fn(&str) -> Lookup<'v>,
    steps: &Cell<usize>,
) -> Result<Expansion, Fault> {
    let expander = Expander { template, lookup, steps };
    let mut expansion = Expansion { text: String::with_capacity(template.text.len()), pieces: Vec::new() };
    for part in &template.parts {
        match part {
            Part::Text(text) => {
                for source in &text.0 {
                    let start = expansion.text.len();
                    expansion.text.push_str(template.text.get(source.clone()).unwrap_or_default());
                    let output = start..expansion.text.len();
                    expansion.pieces.push(Piece { output, source: source.clone(), variable: None, unknown: false });
                }
            }
            Part::Call(call) => {
                let start = expansion.text.len();
                let value = expander.call(call)?;
                if start + value.text.len() > MAX_LEN {
                    return Err(fault(call, FaultKind::TooLong));
                }
                expansion.text.push_str(&value.text);
                expansion.pieces.push(Piece {
                    output: start..expansion.text.len(),
                    source: call.range.clone(),
                    variable: Some(value.variable.unwrap_or(call.name).into()),
                    unknown: value.unknown,
                });
            }
        }
    }
    Ok(expansion)
}

fn fault(call: &Call<'_>, kind: FaultKind) -> Fault {
    Fault { range: call.range.clone(), kind }
}

impl<'a, 'v: 'a> Expander<'a, 'v> {
    fn part(&self, part: &'a Part<'a>) -> Result<Value<'a>, Fault> {
        match part {
            Part::Text(text) => {
                let text = match &*text.0 {
                    [range] => Cow::Borrowed(self.template.text.get(range.clone()).unwrap_or_default()),
                    _ => Cow::Owned(self.template.plain(text)),
                };
                Ok(Value { text, variable: None, unknown: false })
            }
            Part::Call(call) => self.call(call),
        }
    }

    fn call(&self, call: &'a Call<'a>) -> Result<Value<'a>, Fault> {
        // Arguments are expanded first, so a fault in an unused default also fails the expansion.
        let mut arguments = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            arguments.push(self.part(argument)?);
        }
        let value = match (self.lookup)(call.name) {
            Lookup::Known(value) => value,
            Lookup::NotSet if call.operator == Operator::Default => "",
            Lookup::NotSet => return Err(fault(call, FaultKind::NotSet)),
            Lookup::Unknown => return Ok(unknown(call.name)),
        };
        if call.operator == Operator::Default && value.is_empty() {
            return default(call, arguments);
        }
        if call.operator != Operator::Default && arguments.iter().any(|argument| argument.unknown) {
            return Ok(unknown(call.name));
        }
        let arguments: Vec<&str> = arguments.iter().map(|argument| &*argument.text).collect();
        let text = self.apply(call, value, &arguments).map_err(|kind| fault(call, kind))?;
        Ok(Value { text, variable: Some(call.name), unknown: false })
    }

    fn apply(&self, call: &Call<'_>, value: &'v str, arguments: &[&str]) -> Result<Cow<'v, str>, FaultKind> {
        let (first, second) = (arguments.first().copied().unwrap_or_default(), arguments.get(1).copied());
        let trim = |trim: Trim| pattern::trim(value, first, trim, self.steps);
        Ok(match call.operator {
            Operator::Value | Operator::Default => Cow::Borrowed(value),
            Operator::Length => Cow::Owned(value.len().to_string()),
            Operator::Lower => Cow::Owned(value.chars().map(lower).collect()),
            Operator::Upper => Cow::Owned(value.chars().map(upper).collect()),
            Operator::LowerFirst => first_changed(value, lower),
            Operator::UpperFirst => first_changed(value, upper),
            Operator::Substring => Cow::Borrowed(substring(value, first, second)?),
            Operator::ShortPrefix => trim(Trim { suffix: false, longest: false })?,
            Operator::LongPrefix => trim(Trim { suffix: false, longest: true })?,
            Operator::ShortSuffix => trim(Trim { suffix: true, longest: false })?,
            Operator::LongSuffix => trim(Trim { suffix: true, longest: true })?,
            Operator::ReplaceFirst => replaced(value, first, second.unwrap_or_default(), 1)?,
            Operator::ReplaceAll => replaced(value, first, second.unwrap_or_default(), usize::MAX)?,
            // Without a replacement text, these two operators do nothing.
            Operator::ReplacePrefix => match second {
                Some(other) if value.starts_with(first) => replaced(value, first, other, 1)?,
                _ => Cow::Borrowed(value),
            },
            Operator::ReplaceSuffix => match (second, value.strip_suffix(first)) {
                (Some(other), Some(kept)) => Cow::Owned([kept, other].concat()),
                _ => Cow::Borrowed(value),
            },
        })
    }
}

/// The value of a default, which replaces an empty value.
fn default<'a>(call: &Call<'_>, mut arguments: Vec<Value<'a>>) -> Result<Value<'a>, Fault> {
    if let [_] = &*arguments {
        return Ok(arguments.remove(0));
    }
    if arguments.iter().map(|argument| argument.text.len()).sum::<usize>() > MAX_LEN {
        return Err(fault(call, FaultKind::TooLong));
    }
    Ok(Value {
        text: Cow::Owned(arguments.iter().map(|argument| &*argument.text).collect()),
        variable: arguments.iter().find_map(|argument| argument.variable),
        unknown: arguments.iter().any(|argument| argument.unknown),
    })
}

fn unknown(name: &str) -> Value<'_> {
    Value { text: Cow::Owned(["${", name, "}"].concat()), variable: Some(name), unknown: true }
}

fn replaced<'v>(value: &'v str, text: &str, other: &str, most: usize) -> Result<Cow<'v, str>, FaultKind> {
    let count = value.matches(text).take(most).count();
    if count == 0 {
        return Ok(Cow::Borrowed(value));
    }
    if count.saturating_mul(other.len()) > MAX_LEN {
        return Err(FaultKind::TooLong);
    }
    Ok(Cow::Owned(value.replacen(text, other, most)))
}

/// The lower case of a character in Go, which converts a character only to a single character.
fn lower(c: char) -> char {
    // Rust's lower case of `İ` has a combining dot, but Go's lower case does not.
    if c == '\u{130}' {
        return 'i';
    }
    let mut changed = c.to_lowercase();
    match (changed.next(), changed.next()) {
        (Some(only), None) => only,
        _ => c,
    }
}

/// The upper case of a character in Go, which converts a character only to a single character.
fn upper(c: char) -> char {
    let mut changed = c.to_uppercase();
    match (changed.next(), changed.next()) {
        (Some(only), None) => only,
        _ => c,
    }
}

fn first_changed(value: &str, change: fn(char) -> char) -> Cow<'_, str> {
    let mut chars = value.chars();
    match chars.next() {
        Some(first) if change(first) != first => {
            let mut out = String::with_capacity(value.len());
            out.push(change(first));
            out.push_str(chars.as_str());
            Cow::Owned(out)
        }
        _ => Cow::Borrowed(value),
    }
}

/// A substring by bytes. A negative position counts from the end; an argument that is not a number is ignored.
fn substring<'v>(value: &'v str, position: &str, length: Option<&str>) -> Result<&'v str, FaultKind> {
    let size = i64::try_from(value.len()).unwrap_or(i64::MAX);
    let Ok(position) = position.parse::<i64>() else { return Ok(value) };
    let position = if position < 0 { position.saturating_add(size).max(0) } else { position };
    let cut = |range: Range<i64>| {
        let (start, end) = (usize::try_from(range.start), usize::try_from(range.end));
        let (Ok(start), Ok(end)) = (start, end) else { return Err(FaultKind::Backwards) };
        if start > end || end > value.len() {
            return Err(FaultKind::Backwards);
        }
        value.get(start..end).ok_or(FaultKind::CutCharacter)
    };
    let rest = || if position < size { cut(position..size) } else { Ok("") };
    let Some(length) = length else { return rest() };
    let Ok(length) = length.parse::<i64>() else { return Ok(value) };
    let end = position.wrapping_add(length);
    if end >= size { rest() } else { cut(position..end) }
}
