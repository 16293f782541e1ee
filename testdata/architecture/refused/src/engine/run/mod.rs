//! The other directory, which also gives out the names of a third.

mod state;

pub(super) use state::State;
pub(crate) use super::plan::Plan;
