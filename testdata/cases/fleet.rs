//! Cases of fleet.
