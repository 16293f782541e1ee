//! Cases of report.
