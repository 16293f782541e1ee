//! Flux's `${…}`: what `fluxcd/pkg/envsubst` makes of a text, with the place of every piece.
//!
//! It looks like a shell's parameter expansion and is not one: `:+` and `:?` act as `:-`, `${x-y}` is an error, defaults
//! are expanded whether they are used or not, and `$$` is one `$` everywhere but in a default.
//! `testdata/oracles/flux` records the real program.

mod operator;
mod parse;
mod pattern;
mod expand;

use std::ops::Range;

pub use expand::{Expansion, Lookup, Piece};
use operator::Operator;
use parse::{Part, Text};

/// A text with `${…}` in it.
#[derive(Debug, Clone)]
pub struct Template<'t> {
    text: &'t str,
    parts: Vec<Part<'t>>,
}

/// A `${…}` in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use<'t> {
    /// The variable that it reads.
    pub name: &'t str,
    /// Where it stands: bytes of the text.
    pub range: Range<usize>,
    /// Whether it says what to put where there is no such variable.
    pub has_default: bool,
}

/// Why a text cannot be expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where: bytes of the text, from the `${` on.
    pub range: Range<usize>,
    /// What is wrong there.
    pub kind: FaultKind,
}

/// What can be wrong with a `${…}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// No name follows `${` or `${#`.
    NoName,
    /// The name is followed by something that is neither `}` nor an operator.
    NotClosed,
    /// An operator lacks its argument, or the text ends in it.
    NoArgument,
    /// An operator is not complete or has too much.
    Malformed,
    /// `${…}` in `${…}`, too deep to follow.
    TooDeep,
    /// No variable has this name, and no default is given.
    NotSet,
    /// A substring ends before it begins, which stops the controller.
    Backwards,
    /// A character of several bytes is cut in two, which no YAML reader accepts.
    CutCharacter,
    /// It would expand to a text of unreasonable size.
    TooLong,
    /// Its pattern takes unreasonably long to match.
    TooSlow,
}

impl<'t> Template<'t> {
    /// Reads a text.
    pub fn parse(text: &'t str) -> Result<Self, Fault> {
        Ok(Self { text, parts: parse::parse(text)? })
    }

    /// The names of the variables that it reads, in the order of the text; a name may stand twice.
    pub fn names(&self) -> Vec<&'t str> {
        self.uses().into_iter().map(|one| one.name).collect()
    }

    /// Its `${…}`, those inside of others included, in the order of the text.
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

    /// The name in the `${…}` that begins at an offset.
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

    /// Whether something in it stands for another text than itself, even without any variable: `$$` for `$`.
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

    /// Puts values for variables.
    pub fn expand<'v>(&self, lookup: impl Fn(&str) -> Lookup<'v>) -> Result<Expansion, Fault> {
        expand::expand(self, &lookup)
    }

    fn plain(&self, text: &Text) -> String {
        text.0.iter().filter_map(|range| self.text.get(range.clone())).collect()
    }
}
