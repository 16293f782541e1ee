//! Tests may use all modules of their parent.

use super::plan::Plan;

pub(super) struct Fake(Plan);
