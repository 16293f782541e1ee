//! Variables: where they come from, and how they are substituted.

pub mod envsubst;
pub(super) mod substitution;
pub(super) mod variable_name;
pub(super) mod load;
pub(super) mod substitute;
pub(super) mod shared_substitution;
