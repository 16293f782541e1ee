//! Uses the code of its parent, also through a glob of the module above.

use super::Key;
use crate::engine::find;

pub(super) struct Index(Vec<Key>);
