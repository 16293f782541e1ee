//! Cases of lint.
