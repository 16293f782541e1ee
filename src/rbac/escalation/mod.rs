//! Ways in which an account gains the rights of another identity.

pub(super) mod actor;
pub(super) mod guard;
pub(super) mod method;
pub(super) mod object_access;
pub(super) mod rule_identities;
pub(super) mod impersonation;
pub(super) mod escape_chain;
