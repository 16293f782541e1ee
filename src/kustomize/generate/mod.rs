//! Generators: objects from files, literals and plugin objects.

pub(super) mod generator_kind;
pub(super) mod hash;
pub(super) mod iam_policy;
pub(super) mod key_values;
pub(super) mod config_maps;
