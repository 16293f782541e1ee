//! Cases of yaml.
