//! The schemas of the kinds of a cluster, and where they come from.

pub mod pack;
mod built_in;

pub use built_in::{BuiltIn, Product, Releases, built_in, scope_of};
