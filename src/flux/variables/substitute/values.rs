//! The lookup of variables during a substitution.

use std::cell::Cell;

use arcstr::ArcStr;

use crate::flux::model::variables::Variables;
use crate::flux::variables::envsubst::expand::{Lookup, MAX_STEPS};
use crate::yaml::{Name, Node, go};

/// The variables of a substitution.
pub(super) struct Values<'v> {
    pub(super) variables: &'v Variables,
    pub(super) strict: bool,
    /// The remaining number of steps for the patterns of the object.
    pub(super) steps: Cell<usize>,
}

impl<'v> Values<'v> {
    pub(super) fn new(variables: &'v Variables, strict: bool) -> Self {
        Self { variables, strict, steps: Cell::new(MAX_STEPS) }
    }

    /// The number of steps so far.
    pub(super) fn steps_taken(&self) -> usize {
        MAX_STEPS.saturating_sub(self.steps.get())
    }

    /// Counts steps, and returns whether the object is still within its limit.
    pub(super) fn take_steps(&self, count: usize) -> bool {
        self.steps.set(self.steps.get().saturating_sub(count));
        self.steps.get() > 0
    }

    pub(super) fn lookup(&self, name: &str) -> Lookup<'v> {
        match self.variables.values.get(name) {
            Some(variable) => variable.value.as_deref().map_or(Lookup::Unknown, Lookup::Known),
            None if self.variables.open => Lookup::Unknown,
            None if self.strict => Lookup::NotSet,
            None => Lookup::Known(""),
        }
    }

    /// The value of a variable, if it is known.
    pub(super) fn shared_value(&self, name: &str) -> Option<ArcStr> {
        self.variables.values.get(name)?.value.clone()
    }

    /// The name of a variable, which shares memory with the name of the defined variable.
    pub(super) fn name(&self, name: &str) -> Name {
        let known = self.variables.values.get_key_value(name).map(|(name, _)| name.clone());
        known.unwrap_or_else(|| name.into())
    }
}

/// The text of a scalar that kustomize prints as a string; `None` for other nodes.
pub(super) fn string(node: &Node) -> Option<std::borrow::Cow<'_, str>> {
    let crate::yaml::Value::Scalar(text, style) = &node.value else { return None };
    Some(go::normalized(text, *style))
}
