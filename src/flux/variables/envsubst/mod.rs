//! Flux's `${…}`: what `fluxcd/pkg/envsubst` makes of a text, with the place of every piece.
//!
//! It looks like a shell's parameter expansion and is not one: `:+` and `:?` act as `:-`, `${x-y}` is an error, defaults
//! are expanded whether they are used or not, and `$$` is one `$` everywhere but in a default.
//! `testdata/oracles/flux` records the real program.

pub(super) mod fault;
mod operator;
mod parse;
mod pattern;
pub(super) mod template;
pub(super) mod expand;

pub use expand::{Expansion, Lookup, Piece};
pub use fault::{Fault, FaultKind};
pub use template::{Template, Use};
