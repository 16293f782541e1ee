//! Nodes, their origins, and paths through them.

pub(super) mod origin;
pub(super) mod list;
pub(super) mod node;
pub(super) mod path;
