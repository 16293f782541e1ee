//! Cases of architecture.
