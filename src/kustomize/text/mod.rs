//! Text and scalars, as Go and kustomize read and write them.

pub(super) mod field_path;
pub(super) mod field_change;
pub(super) mod go_json;
pub(super) mod reprint;
pub(super) mod retype;
pub(super) mod scope;
pub(super) mod size_limits;
pub(super) mod string_value;
pub(super) mod structured;
