//! Closes a cycle in one directory, through the file that hides it.

use super::Plan;

pub(super) enum Kind { First }

pub(super) struct Step(Option<Box<crate::engine::Plan>>);
