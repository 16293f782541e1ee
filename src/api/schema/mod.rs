//! The schema of a kind, as a `CustomResourceDefinition` declares it.
//!
//! The schemas of built-in kinds have the same form.

mod model;
mod read;
mod write;

pub use model::{Additional, Bound, Constraints, Layout, Link, Numbered, Range, Rule, Schema, Type};
pub use read::{Mistake, read, read_with};
pub use write::to_json;
