//! The cache of substituted scalars, which clusters share if a scalar reads the same values.

use std::sync::{Arc, Mutex, PoisonError};

use super::origin::is_equal;
use super::values::{Values, string};
use crate::flux::variables::envsubst::template::Template;
use crate::flux::variables::substitution::ReadValues;
use crate::text::Index;
use crate::yaml::{Name, Node, Origin};

/// The maximum number of results that the cache keeps for one object or scalar. An object with more results reads a
/// value that differs on each cluster, such as the name of the cluster, so that clusters share no further result.
pub(in crate::flux::variables) const MAX_RESULTS: usize = 128;

/// The results by the memory address of the scalar before substitution.
///
/// The owner of the cache keeps the objects of these scalars, so that an address is not used again.
#[derive(Debug, Default)]
pub(crate) struct SharedScalars(Mutex<Index<usize, SharedScalar>>);

/// A scalar with the names that it reads, and its results by the values of these names.
#[derive(Debug)]
struct SharedScalar {
    names: Arc<[Name]>,
    /// The origin of the first result. Results with values of the same length have equal origins.
    origin: Origin,
    /// The results with the numbers of their steps.
    results: Index<ReadValues, (Node, usize)>,
}

impl SharedScalars {
    /// The known result for a scalar, or the result of `make`.
    pub(super) fn find_or<E>(
        &self,
        node: &Node,
        values: &Values<'_>,
        make: impl FnOnce() -> Result<Option<Node>, E>,
        too_slow: E,
    ) -> Result<Option<Node>, E> {
        let address = std::ptr::from_ref(node).addr();
        // A panic in another thread leaves complete entries, since each entry is inserted in one step.
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let names = lock().get(&address).map(|known| known.names.clone());
        let names = names.unwrap_or_else(|| names_of(node));
        let read = ReadValues::new(&names, values.variables, values.strict);
        let known = lock().get(&address).and_then(|known| known.results.get(&read).cloned());
        if let Some((node, steps)) = known {
            // The result must not depend on the order of the appliers.
            return if values.take_steps(steps) { Ok(Some(node)) } else { Err(too_slow) };
        }
        let before = values.steps_taken();
        let Some(mut node) = make()? else { return Ok(None) };
        let steps = values.steps_taken() - before;
        let mut known = lock();
        let first = || SharedScalar { names, origin: node.origin.clone(), results: Index::default() };
        let known = known.entry_or(address, first);
        if is_equal(&known.origin, &node.origin) {
            node.origin = known.origin.clone();
        }
        if known.results.len() < MAX_RESULTS {
            known.results.insert(read, (node.clone(), steps));
        }
        Ok(Some(node))
    }
}

/// The names that a scalar reads; none if Flux cannot read it.
fn names_of(node: &Node) -> Arc<[Name]> {
    let Some(text) = string(node) else { return Arc::default() };
    let names = |template: Template<'_>| template.names().into_iter().map(Name::from).collect();
    Template::parse(&text).map_or_else(|_| Arc::default(), names)
}
