//! Substitution of variables in built objects, shared by appliers that give an object the same values.

use std::sync::{Arc, Mutex, PoisonError};

use super::substitute::substitute;
use super::substitution::ReadValues;
use super::substitution::Substitution;
use crate::base::finding::Finding;
use crate::flux::variables::substitute::unset::Unset;
use crate::flux::variables::substitute::unset::unset;
use crate::kube::Object;
use crate::text::Index;
use crate::yaml::{Name, Value};

/// The label and the annotation that switch substitution off.
const SWITCH: &str = "kustomize.toolkit.fluxcd.io/substitute";

/// What was substituted already: by the object and the values of what it reads. The object is kept, so that nothing else
/// comes to lie at its place in memory.
#[derive(Debug, Default)]
pub(crate) struct Shared(Mutex<Index<(usize, ReadValues), Arc<Substituted>>>);

#[derive(Debug)]
struct Substituted {
    _original: Object,
    result: Result<Object, Vec<Finding>>,
    unset: Arc<[Unset]>,
}

impl Substituted {
    fn both(&self) -> (Result<Object, Vec<Finding>>, Arc<[Unset]>) {
        (self.result.clone(), self.unset.clone())
    }
}

impl Shared {
    /// The object with the values of the variables that it reads, and those that nothing defines. Clusters share objects,
    /// so that their place in memory tells them.
    pub(crate) fn substitute(
        &self,
        object: &Object,
        names: &[Name],
        substitution: &Substitution<'_>,
    ) -> (Result<Object, Vec<Finding>>, Arc<[Unset]>) {
        let key = (address(object), ReadValues::of(names, substitution));
        // A panic elsewhere leaves whole entries: each is inserted in one step.
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return known.both();
        }
        let result = substitute(object, substitution.variables, substitution.strict);
        let unset = unset(object, names, substitution.variables).into();
        let made = Arc::new(Substituted { _original: object.clone(), result, unset });
        // Another thread may have made it meanwhile: all share the first one.
        lock().entry_or(key, || made).both()
    }
}

/// The place of an object in memory.
fn address(object: &Object) -> usize {
    match &object.node.value {
        Value::Map(entries) => Arc::as_ptr(entries).cast::<()>().addr(),
        Value::Seq(_) | Value::Scalar(..) => unreachable!("an object is a mapping"),
    }
}

/// Tells whether Flux substitutes in an object.
pub(crate) fn is_enabled(object: &Object) -> bool {
    let off = |field: &str| object.text_at(&["metadata", field, SWITCH]) == Some("disabled");
    !off("labels") && !off("annotations")
}
