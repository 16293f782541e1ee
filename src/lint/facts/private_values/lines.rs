//! The private values in lines of a text that is neither YAML nor JSON.

use super::name::{self, Name};
use super::placeholder::is_placeholder;
use super::random::looks_random;
use super::shape;

/// A line `name = value` or `name: value` with a private value.
pub(super) struct PrivateLine<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a str,
    /// The position of the value in the text.
    pub(super) start: usize,
}

/// The lines of a text with a private value. Only random values are private, since programs also contain such lines.
pub(super) fn private_lines(text: &str) -> impl Iterator<Item = PrivateLine<'_>> {
    let mut next = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let at = next;
        next += line.len();
        if line.trim_start().starts_with(['#', ';']) || line.trim_start().starts_with("//") {
            return None;
        }
        let (name, value) = line.split_once(['=', ':'])?;
        let name = name.trim().rsplit(char::is_whitespace).next().unwrap_or_default().trim_matches(['"', '\'']);
        let value = value.trim().trim_end_matches([',', ';']).trim_matches(['"', '\'']);
        let is_private = name::of_value(name) != Name::Neutral
            && looks_random(value)
            && !is_placeholder(value)
            && !shape::is_public(value)
            && !shape::is_call(value);
        let start = at + line.rfind(value).unwrap_or_default();
        is_private.then_some(PrivateLine { name, value, start })
    })
}
