//! The private values in lines of a text that is neither YAML nor JSON.

use memchr::memchr2;

use super::name::{self, Name};
use super::placeholder::is_placeholder;
use super::random::looks_random;
use super::shape;
use crate::text::lines;

/// A line `name = value` or `name: value` with a private value.
pub(super) struct PrivateLine<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a str,
    /// The position of the value in the text.
    pub(super) start: usize,
}

/// The lines of a text with a private value. Only random values are private, since programs also contain such lines.
pub(super) fn private_lines(text: &str) -> impl Iterator<Item = PrivateLine<'_>> {
    lines(text).filter_map(|(at, line)| {
        let sign = memchr2(b'=', b':', line.as_bytes())?;
        let (name, value) = (line.get(..sign)?, line.get(sign + 1..)?);
        let name = name.trim().rsplit(char::is_whitespace).next().unwrap_or_default().trim_matches(['"', '\'']);
        // Most lines have other names.
        if name::of_value(name) == Name::Neutral {
            return None;
        }
        if line.trim_start().starts_with(['#', ';']) || line.trim_start().starts_with("//") {
            return None;
        }
        let value = value.trim().trim_end_matches([',', ';']).trim_matches(['"', '\'']);
        let is_private =
            looks_random(value) && !is_placeholder(value) && !shape::is_public(value) && !shape::is_call(value);
        is_private.then(|| PrivateLine { name, value, start: at + line.rfind(value).unwrap_or_default() })
    })
}
