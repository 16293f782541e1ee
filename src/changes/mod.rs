//! The changes between two states of a repository, as its clusters receive them.

mod model;
mod fields;
mod immutable;
mod received;
mod rights;
mod compare;

pub use compare::{Side, compare};
pub use model::{Change, Changes, Danger, FieldChange, RightsChange, Unbuilt, What};
