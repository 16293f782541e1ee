//! The values of scalars: types, timestamps and base64.

pub(super) mod base64;
pub(super) mod resolve;
pub(super) mod timestamp;
