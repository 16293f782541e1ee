//! The APIs of a cluster: the schemas of its kinds, and where they come from.

pub mod schema;
pub mod catalog;
pub mod validate;
