//! Variables: their sources and their substitution.

pub mod envsubst;
pub(super) mod unset;
pub(super) mod substitution;
pub(super) mod variable_name;
pub(super) mod load;
pub(super) mod substitute;
pub(super) mod shared_substitution;
