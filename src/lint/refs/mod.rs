//! References from Flux objects to other objects.

pub(super) mod dependency;
pub(super) mod source_reference;
pub(super) mod values_reference;
