//! The data model: clusters, appliers, and the objects that they apply.

pub(super) mod completion;
pub(super) mod objects;
pub(super) mod cluster;
pub(super) mod apply_mode;
pub(super) mod receiver;
