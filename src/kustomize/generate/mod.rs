//! Generators: objects made from files, literals and definitions.

pub(super) mod hash;
pub(super) mod iam_policy;
pub(super) mod config_maps;
pub(super) mod key_values;
