//! Flux's `${…}`: the expansion as in `fluxcd/pkg/envsubst`, with the position of every piece.
//!
//! The syntax differs from the parameter expansion of a shell: `:+` and `:?` behave like `:-`, `${x-y}` is an error,
//! unused defaults are also expanded, and `$$` becomes one `$` except in a default. `testdata/oracles/flux` records the
//! output of Flux.

pub(super) mod fault;
mod operator;
mod parse;
mod pattern;
pub(super) mod template;
pub(super) mod expand;

pub use expand::{Expansion, Lookup, Piece};
pub use fault::{Fault, FaultKind};
pub use template::{Template, Use};
