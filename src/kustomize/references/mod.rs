//! Updates of name references, and substitution of `vars`.

pub(super) mod name_references;
pub(super) mod vars;
