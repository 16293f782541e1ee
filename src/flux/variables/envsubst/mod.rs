//! Flux's `${…}`: the expansion of `fluxcd/pkg/envsubst`, with the position of every piece.
//!
//! It differs from the parameter expansion of a shell: `:+` and `:?` behave like `:-`, `${x-y}` is an error, unused
//! defaults are expanded too, and `$$` is one `$` except in a default. `testdata/oracles/flux` records the output of
//! Flux.

mod operator;
mod parse;
mod pattern;
mod expand;

use std::ops::Range;

pub use expand::{Expansion, Lookup, Piece};
use operator::Operator;
use parse::{Part, Text};

/// A parsed text with `${…}`.
#[derive(Debug, Clone)]
pub struct Template<'t> {
    text: &'t str,
    parts: Vec<Part<'t>>,
}

/// A `${…}` in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use<'t> {
    /// The name of the variable.
    pub name: &'t str,
    /// The byte range in the text.
    pub range: Range<usize>,
    /// Whether it has a default for an unset variable.
    pub has_default: bool,
}

/// The reason why a text cannot be expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The byte range in the text, from the `${` on.
    pub range: Range<usize>,
    /// The kind of the fault.
    pub kind: FaultKind,
}

/// The kind of a fault in a `${…}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The name after `${` or `${#` is missing.
    NoName,
    /// The character after the name is neither `}` nor an operator.
    NotClosed,
    /// An operator lacks its argument, or the text ends in it.
    NoArgument,
    /// An operator is incomplete, or has superfluous text.
    Malformed,
    /// `${…}` is nested too deep.
    TooDeep,
    /// The variable is not set and has no default.
    NotSet,
    /// A substring ends before it starts, which crashes the controller.
    Backwards,
    /// A substring splits a character of several bytes. The result is not valid YAML.
    CutCharacter,
    /// The expansion is too long.
    TooLong,
    /// The pattern is too expensive to match.
    TooSlow,
}

impl<'t> Template<'t> {
    /// Parses a text.
    pub fn parse(text: &'t str) -> Result<Self, Fault> {
        Ok(Self { text, parts: parse::parse(text)? })
    }

    /// The names of its variables, in the order of the text, with duplicates.
    pub fn names(&self) -> Vec<&'t str> {
        self.uses().into_iter().map(|one| one.name).collect()
    }

    /// Its `${…}`, including nested ones, in the order of the text.
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

    /// Returns whether the text contains escapes, such as `$$` for `$`, which change it even without variables.
    pub fn has_escapes(&self) -> bool {
        let kept = |part: &Part<'_>| match part {
            Part::Text(text) => text.0.iter().map(ExactSizeIterator::len).sum::<usize>(),
            Part::Call(call) => call.range.len(),
        };
        self.parts.iter().map(kept).sum::<usize>() < self.text.len()
    }

    /// The ranges of its outermost `${…}`.
    pub fn calls(&self) -> impl Iterator<Item = Range<usize>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call.range.clone()),
            Part::Text(_) => None,
        })
    }

    /// Expands the variables.
    pub fn expand<'v>(&self, lookup: impl Fn(&str) -> Lookup<'v>) -> Result<Expansion, Fault> {
        expand::expand(self, &lookup)
    }

    fn plain(&self, text: &Text) -> String {
        text.0.iter().filter_map(|range| self.text.get(range.clone())).collect()
    }
}
