//! Uses what its parent lists below it, and closes a cycle across two directories.

use crate::engine::run::State;

pub(in crate::engine) struct Job(State);
