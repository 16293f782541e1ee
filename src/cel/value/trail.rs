//! The path of a value from a variable, so that a finding can point at the fields that an expression reads.

use std::sync::Arc;

use arcstr::ArcStr;

use crate::yaml::{Key, Path};

/// A field that an evaluation read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// The variable, such as `object`.
    pub variable: ArcStr,
    /// The path of the field in the variable's value.
    pub path: Path,
    /// Whether the field exists. A missing field has no position, but its parent may have one.
    pub exists: bool,
}

/// A path as a list of steps towards the root, so that values share the paths of their parents.
#[derive(Debug, Clone)]
pub(crate) enum Trail {
    /// A variable.
    Root(ArcStr),
    /// A child of another value.
    Child(Arc<(Trail, Key)>),
}

impl Trail {
    /// The path of a child.
    pub(super) fn child(&self, key: Key) -> Self {
        Self::Child(Arc::new((self.clone(), key)))
    }

    /// The path as a whole.
    pub(super) fn read(&self, exists: bool) -> Read {
        let (mut keys, mut trail) = (Vec::new(), self);
        loop {
            match trail {
                Self::Root(variable) => {
                    keys.reverse();
                    return Read { variable: variable.clone(), path: Path(keys), exists };
                }
                Self::Child(step) => {
                    keys.push(step.1.clone());
                    trail = &step.0;
                }
            }
        }
    }
}
