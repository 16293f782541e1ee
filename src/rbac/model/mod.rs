//! Roles, bindings, subjects and requests.

pub(super) mod account_kind;
pub(super) mod request;
pub(super) mod rule;
pub(super) mod subject;
pub(super) mod role;
pub(super) mod shipped;
pub(super) mod kinds;
