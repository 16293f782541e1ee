//! The input files of a fleet, their schemas, and layouts.

pub(super) mod schema;
pub(super) mod layout;
pub(super) mod value_schema;
pub(super) mod includes;
pub(super) mod files;
