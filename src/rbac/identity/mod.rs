//! The service accounts that objects name and that Flux impersonates.

pub(super) mod flux_identity;
pub(super) mod account_objects;
pub(super) mod content_users;
pub(super) mod unknown_rights;
