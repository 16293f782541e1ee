//! The text of fleet.yaml: files, formats, schemas and layouts.

pub(super) mod layout;
pub(super) mod schema;
pub(super) mod files;
