//! How an account can gain the rights of another.

pub(super) mod flux_identity;
pub(super) mod guard;
pub(super) mod account_objects;
pub(super) mod impersonation;
pub(super) mod escape_chain;
