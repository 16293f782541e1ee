//! Substitution of variables in built objects, shared by appliers that give an object the same values.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::build::Substitution;
use super::digest::{Digest, Hasher};
use super::substitute;
use crate::finding::Finding;
use crate::kube::Object;
use crate::yaml::Name;

/// The label and the annotation that switch substitution off.
const SWITCH: &str = "kustomize.toolkit.fluxcd.io/substitute";

/// What was substituted already: by the object and the values of what it reads.
#[derive(Debug, Default)]
pub(super) struct Shared(Mutex<BTreeMap<Digest, Arc<Result<Object, Vec<Finding>>>>>);

impl Shared {
    /// The object with the values of the variables that it reads.
    pub(super) fn substitute(
        &self,
        object: &Object,
        names: &[Name],
        substitution: &Substitution<'_>,
    ) -> Result<Object, Vec<Finding>> {
        let mut hasher = Hasher::new(if substitution.strict { "strict" } else { "lax" });
        hasher.node(&object.node);
        hash_values(&mut hasher, names.iter(), substitution);
        let key = hasher.finish();
        // A panic elsewhere leaves whole entries: each is inserted in one step.
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return (**known).clone();
        }
        let made = Arc::new(substitute(object, substitution.variables, substitution.strict));
        (**lock().entry(key).or_insert(made)).clone()
    }
}

/// Takes the values of variables into a key.
pub(super) fn hash_values<'a>(
    hasher: &mut Hasher,
    names: impl Iterator<Item = &'a Name>,
    substitution: &Substitution<'_>,
) {
    hasher.text(if substitution.variables.open { "open" } else { "closed" });
    for name in names {
        hasher.text(name);
        match substitution.variables.values.get(name).map(|variable| &variable.value) {
            Some(Some(value)) => {
                hasher.text("=");
                hasher.text(value);
            }
            Some(None) => hasher.text("?"),
            None => hasher.text("-"),
        }
    }
}

/// Tells whether Flux substitutes in an object.
pub(super) fn is_enabled(object: &Object) -> bool {
    let off = |field: &str| object.text_at(&["metadata", field, SWITCH]) == Some("disabled");
    !off("labels") && !off("annotations")
}
