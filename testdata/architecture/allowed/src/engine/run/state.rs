//! Uses the neighbour that is listed above it.

use super::run::Run;
use crate::engine::Limit;

pub(in crate::engine) struct State(Run, Limit);
