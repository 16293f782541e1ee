//! References from one object to another, and whether their targets exist.

pub(super) mod presence;
pub(super) mod wanted;
pub(super) mod dependency;
pub(super) mod source_reference;
pub(super) mod values_reference;
pub(super) mod missing;
