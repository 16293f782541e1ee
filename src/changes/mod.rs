//! The changes between two states of a repository, as its clusters receive them.

mod side;
mod model;
mod cause;
mod fields;
mod immutable;
mod received;
mod appliers;
mod danger;
mod unbuilt;
mod rights;
mod compare;

pub use compare::compare;
pub use model::{Change, Changes, Danger, FieldChange, RightsChange, Unbuilt, What};
pub use side::Side;
