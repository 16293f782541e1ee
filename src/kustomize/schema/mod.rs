//! Merge keys and scopes of kinds, built in or from `openapi`.

pub(super) mod field_comment;
pub(super) mod user_schema;
pub(super) mod merge_keys;
