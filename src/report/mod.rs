//! Findings and pages → text and the formats of other tools.
