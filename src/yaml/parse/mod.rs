//! The parser of YAML text, which returns nodes and findings.

mod collection;
pub(super) mod rule_ids;
mod tag;
mod token;
mod syntax_error;
pub(super) mod builder;
mod repair;
mod line_scalars;
mod lines;
mod line_flow;
pub(super) mod parser;
pub(super) mod embedded;
