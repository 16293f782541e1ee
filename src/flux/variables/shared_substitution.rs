//! The cache of substituted objects, which appliers share if an object reads the same values.

use std::sync::{Arc, Mutex, PoisonError};

use super::substitute::shared_scalars::{MAX_RESULTS, SharedScalars};
use super::substitute::{substitute_known, substitute_shared};
use super::substitution::{ReadValues, Substitution};
use crate::base::finding::Finding;
use crate::flux::variables::substitute::undefined::{UndefinedVariable, may_assign, undefined_variables};
use crate::kube::Object;
use crate::kustomize::Totals;
use crate::text::Index;
use crate::yaml::{Name, Node, Origin, Value};

/// The label and the annotation that disable substitution.
const SWITCH: &str = "kustomize.toolkit.fluxcd.io/substitute";

/// The results of substitutions.
#[derive(Debug, Default)]
pub(crate) struct SubstitutionCache {
    /// The results by the memory address of the object.
    objects: Mutex<Index<usize, SharedObject>>,
    /// The results for scalars of these objects.
    scalars: SharedScalars,
    /// The cost of all builds of the run.
    totals: Arc<Totals>,
}

/// An object before substitution, and its results by the values that the object reads.
#[derive(Debug)]
struct SharedObject {
    /// The cache keeps the object, so that its address is not used again.
    _original: Object,
    /// The approximate size of the object in memory.
    weight: usize,
    /// Whether the object has a text that may assign a variable before reading it.
    may_assign: bool,
    results: Index<ReadValues, Arc<Substituted>>,
}

/// The result of the substitution in one object.
#[derive(Debug)]
pub(crate) struct Substituted {
    /// The object after substitution. If Flux fails, the object has the values of the known variables.
    pub(crate) object: Object,
    /// The findings, if Flux fails.
    pub(crate) findings: Vec<Finding>,
    /// The undefined variables that the object reads.
    pub(crate) undefined: Vec<UndefinedVariable>,
    /// The number of steps of its patterns.
    pub(crate) steps: usize,
    /// The memory that substitution added to the object, in bytes.
    pub(crate) grown: usize,
}

/// The number of bytes of an object that take as much time as the visit of a value.
const BYTES_OF_STEP: usize = 64;

/// The approximate memory for a value with variables, in bytes.
const BYTES_OF_CHANGE: usize = 256;

/// The number of steps of a pattern that take as much time as the visit of a value.
const PATTERN_STEPS_OF_STEP: usize = 4;

impl SubstitutionCache {
    /// Creates an empty cache that counts the cost of substitutions in `totals`.
    pub(crate) fn within(totals: &Arc<Totals>) -> Self {
        Self { totals: totals.clone(), ..Self::default() }
    }

    /// The cost of all builds of the run.
    pub(crate) fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Counts the substitution in an object of `weight` bytes, which results in `new`.
    pub(crate) fn count(&self, new: &Object, weight: usize, pattern_steps: usize) {
        self.totals.add_objects(1);
        self.totals.add_bytes(weight + BYTES_OF_CHANGE * changes(&new.node));
        self.totals.add_steps(weight / BYTES_OF_STEP + pattern_steps / PATTERN_STEPS_OF_STEP);
    }

    /// Substitutes variables in an object. Clusters share objects, so the address identifies an object.
    pub(crate) fn substitute(
        &self,
        object: &Object,
        names: &[Name],
        substitution: &Substitution<'_>,
    ) -> Arc<Substituted> {
        let Substitution { variables, strict, .. } = *substitution;
        let (address, read) = (address(object), ReadValues::new(names, variables, strict));
        // A panic in another thread leaves complete entries, since each entry is inserted in one step.
        let lock = || self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        let first = || SharedObject {
            _original: object.clone(),
            weight: object.node.weight(),
            may_assign: may_assign(&object.node),
            results: Index::default(),
        };
        let (weight, may_assign) = {
            let mut known = lock();
            let known = known.entry_or(address, first);
            if let Some(known) = known.results.get(&read) {
                return known.clone();
            }
            (known.weight, known.may_assign)
        };
        let undefined = undefined_variables(object, names, variables, may_assign);
        let (result, steps) = substitute_shared(object, variables, strict, &self.scalars);
        let (new, findings) = match result {
            Ok(new) => (new, Vec::new()),
            Err(findings) => (substitute_known(object, variables, strict), findings),
        };
        self.count(&new, weight, steps);
        let grown = new.node.weight().saturating_sub(weight);
        let made = Arc::new(Substituted { object: new, findings, undefined, steps, grown });
        let mut known = lock();
        let results = &mut known.entry_or(address, first).results;
        // Another thread may have inserted the entry. The cache keeps the first entry.
        match results.get(&read) {
            Some(known) => known.clone(),
            None if results.len() >= MAX_RESULTS => made,
            None => results.entry_or(read, || made).clone(),
        }
    }
}

/// The number of values of an object with variables.
fn changes(node: &Node) -> usize {
    match &node.value {
        Value::Scalar(..) => match &node.origin {
            Origin::Via(step) if !step.pieces.is_empty() => 1,
            _ => 0,
        },
        Value::Seq(items) => items.iter().map(changes).sum(),
        Value::Map(entries) => entries.iter().map(|entry| changes(&entry.node)).sum(),
    }
}

/// The address of an object in memory.
fn address(object: &Object) -> usize {
    match &object.node.value {
        Value::Map(entries) => entries.address(),
        Value::Seq(_) | Value::Scalar(..) => unreachable!("an object is a mapping"),
    }
}

/// Returns whether Flux substitutes variables in an object.
pub(crate) fn is_enabled(object: &Object) -> bool {
    let off = |field: &str| object.text_at(&["metadata", field, SWITCH]) == Some("disabled");
    !off("labels") && !off("annotations")
}
