//! One repository → findings.
