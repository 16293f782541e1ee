//! References that follow renamed objects, and `vars`.

pub(super) mod name_references;
pub(super) mod vars;
