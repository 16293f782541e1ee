//! The data model: kinds and states of appliers, their variables, and the objects of a build.

pub(super) mod completion;
pub(super) mod built_object;
pub(super) mod not_built;
pub(super) mod applier_kind;
pub(super) mod applier_fields;
pub(super) mod objects;
pub(super) mod variables;
