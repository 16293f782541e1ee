//! The schema of a kind, as a `CustomResourceDefinition` declares it.
//!
//! The schemas of built-in kinds have the same form.

mod compiled;
mod model;
mod fields;
mod structural;
mod compile;
mod read;
mod write;

pub use compiled::{CompiledRule, CompiledRules};
pub use model::{Additional, Bound, Constraints, Layout, Link, Numbered, Range, Rule, Schema, Type};
pub use read::{Refer, read, read_with};
pub use structural::Mistake;
pub use write::to_json;
