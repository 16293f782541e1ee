//! Cases of cli.
