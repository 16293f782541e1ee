//! The syntax of CEL: tokens, expressions and macros.
//!
//! The parser of the crate `cel` is not used: it depends on a runtime of ANTLR, and it expands macros into general folds,
//! which lose the positions of their parts.

mod expression;
mod fault;
mod literal;
mod token;
mod macros;
mod parser;

pub(super) use expression::{Argument, Expr, Fold, FoldKind, Kind, MAX_HEIGHT, Pair, Selection};
pub(super) use fault::SyntaxError;
pub(super) use parser::parse;
