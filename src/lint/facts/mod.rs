//! Facts about objects, lists of objects and the repository that several rules use.

pub(super) mod artifacts;
pub(super) mod content;
pub(super) mod difference;
pub(super) mod distinct;
pub(super) mod identity_hash;
pub(super) mod inputs;
pub(super) mod own_position;
pub(super) mod ownership_settings;
pub(super) mod paths;
pub(super) mod installation;
pub(super) mod pods;
pub(super) mod needs;
pub(super) mod private_values;
pub(super) mod listing;
pub(super) mod by_identity;
pub(super) mod reached;
pub(super) mod suspension;
pub(super) mod unknown_sources;
pub(super) mod definitions;
pub(super) mod makers;
pub(super) mod written_objects;
