//! The names of the parent's imports are also refused where a glob passes them on.

use super::Key;
use crate::engine::find;

pub(super) struct Index(Vec<Key>);
