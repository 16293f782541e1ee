//! Texts that contain `${…}`.

use std::ops::Range;

use super::fault::Fault;
use super::operator::Operator;
use super::parse::{self, Part, Text};

/// A parsed text with `${…}`.
#[derive(Debug, Clone)]
pub struct Template<'t> {
    pub(super) text: &'t str,
    pub(super) parts: Vec<Part<'t>>,
}

/// A `${…}` in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use<'t> {
    /// The name of the variable.
    pub name: &'t str,
    /// The byte range in the text.
    pub range: Range<usize>,
    /// Whether the `${…}` has a default for an unset variable.
    pub has_default: bool,
}

impl<'t> Template<'t> {
    /// Reads a text.
    pub fn parse(text: &'t str) -> Result<Self, Fault> {
        Ok(Self { text, parts: parse::parse(text)? })
    }

    /// The names of the template's variables, in the order of the text, with duplicates.
    pub fn names(&self) -> Vec<&'t str> {
        self.uses().into_iter().map(|one| one.name).collect()
    }

    /// Returns all `${…}`, including nested `${…}`, in the order of the text.
    pub fn uses(&self) -> Vec<Use<'t>> {
        fn add<'t>(parts: &[Part<'t>], uses: &mut Vec<Use<'t>>) {
            for part in parts {
                if let Part::Call(call) = part {
                    let has_default = call.operator == Operator::Default;
                    uses.push(Use { name: call.name, range: call.range.clone(), has_default });
                    add(&call.arguments, uses);
                }
            }
        }
        let mut uses = Vec::new();
        add(&self.parts, &mut uses);
        uses
    }

    /// The variable of the `${…}` at an offset.
    pub fn name_at(&self, offset: usize) -> Option<&'t str> {
        fn find<'t>(parts: &[Part<'t>], offset: usize) -> Option<&'t str> {
            parts.iter().find_map(|part| match part {
                Part::Call(call) if call.range.start == offset => Some(call.name),
                Part::Call(call) => find(&call.arguments, offset),
                Part::Text(_) => None,
            })
        }
        find(&self.parts, offset)
    }

    /// Returns whether the text contains escapes, such as `$$` for `$`. Escapes change the text even without variables.
    pub fn has_escapes(&self) -> bool {
        let kept = |part: &Part<'_>| match part {
            Part::Text(text) => text.0.iter().map(ExactSizeIterator::len).sum::<usize>(),
            Part::Call(call) => call.range.len(),
        };
        self.parts.iter().map(kept).sum::<usize>() < self.text.len()
    }

    /// The ranges of the outermost `${…}`.
    pub fn calls(&self) -> impl Iterator<Item = Range<usize>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call.range.clone()),
            Part::Text(_) => None,
        })
    }

    pub(super) fn plain(&self, text: &Text) -> String {
        text.0.iter().filter_map(|range| self.text.get(range.clone())).collect()
    }
}
