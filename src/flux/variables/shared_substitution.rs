//! The cache of substituted objects, which appliers share if an object reads the same values.

use std::sync::{Arc, Mutex, PoisonError};

use super::substitute::substitute;
use super::substitution::{ReadValues, Substitution};
use crate::base::finding::Finding;
use crate::flux::variables::substitute::undefined::{UndefinedVariable, undefined_variables};
use crate::kube::Object;
use crate::text::Index;
use crate::yaml::{Name, Value};

/// The label and the annotation that disable substitution.
const SWITCH: &str = "kustomize.toolkit.fluxcd.io/substitute";

/// Results by the address of the object and the values that it reads. The cache keeps the object, so that its address
/// is not used again.
#[derive(Debug, Default)]
pub(crate) struct SubstitutionCache(Mutex<Index<(usize, ReadValues), Arc<Substituted>>>);

#[derive(Debug)]
struct Substituted {
    _original: Object,
    result: Result<Object, Vec<Finding>>,
    undefined: Arc<[UndefinedVariable]>,
}

impl Substituted {
    fn both(&self) -> (Result<Object, Vec<Finding>>, Arc<[UndefinedVariable]>) {
        (self.result.clone(), self.undefined.clone())
    }
}

impl SubstitutionCache {
    /// Substitutes variables in an object, and returns the undefined ones. Clusters share objects, so the address
    /// identifies an object.
    pub(crate) fn substitute(
        &self,
        object: &Object,
        names: &[Name],
        substitution: &Substitution<'_>,
    ) -> (Result<Object, Vec<Finding>>, Arc<[UndefinedVariable]>) {
        let key = (address(object), ReadValues::new(names, substitution));
        // A panic in another thread leaves complete entries, since each is inserted in one step.
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return known.both();
        }
        let result = substitute(object, substitution.variables, substitution.strict);
        let undefined = undefined_variables(object, names, substitution.variables).into();
        let made = Arc::new(Substituted { _original: object.clone(), result, undefined });
        // Another thread may have inserted the entry: the first one counts.
        lock().entry_or(key, || made).both()
    }
}

/// The address of an object in memory.
fn address(object: &Object) -> usize {
    match &object.node.value {
        Value::Map(entries) => Arc::as_ptr(entries).cast::<()>().addr(),
        Value::Seq(_) | Value::Scalar(..) => unreachable!("an object is a mapping"),
    }
}

/// Returns whether Flux substitutes in an object.
pub(crate) fn is_enabled(object: &Object) -> bool {
    let off = |field: &str| object.text_at(&["metadata", field, SWITCH]) == Some("disabled");
    !off("labels") && !off("annotations")
}
