//! The state that the builds of all clusters share.

use std::sync::{Arc, Mutex, PoisonError};

use super::build_key::BuildKey;
use super::digest::Digest;
use super::inventory::ChangedObjects;
use super::output::Output;
use super::shared_specs::SharedSpecs;
use crate::flux::settings::Settings;
use crate::flux::source::sources::Sources;
use crate::flux::variables::shared_substitution::SubstitutionCache;
use crate::kube::Object;
use crate::text::Index;

/// The outputs of finished builds.
pub(crate) type Memo = Index<Arc<BuildKey>, Arc<Output>>;

/// The state that the builds of all clusters share.
pub(crate) struct BuildContext<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) settings: &'a Settings,
    pub(crate) memo: Memo,
    pub(crate) shared: SubstitutionCache,
    pub(crate) unbuilt: Unbuilt,
    pub(crate) changed: ChangedObjects,
    pub(crate) specs: SharedSpecs,
    pub(crate) instances: Instances,
}

/// The outputs of appliers without an artifact. Many appliers of many clusters share a reason.
#[derive(Default)]
pub(crate) struct Unbuilt(Mutex<Memo>);

impl Unbuilt {
    /// The known output with a key, or the output of `make`, with its key.
    pub(crate) fn find_or(&self, key: BuildKey, make: impl FnOnce() -> Output) -> (Arc<BuildKey>, Arc<Output>) {
        // Each entry is inserted in one step, so a panic leaves no partial entry.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((key, output)) = known.get_with_key(&key) {
            return (key.clone(), output.clone());
        }
        let (key, output) = (Arc::new(key), Arc::new(make()));
        known.insert(key.clone(), output.clone());
        (key, output)
    }
}

/// The facts about the objects that Flux Operator creates for a FluxInstance.
#[derive(Debug, Clone)]
pub(crate) struct InstanceFacts {
    /// The Deployment of kustomize-controller, as far as its fields are known.
    pub(crate) controller: Option<Object>,
    /// Whether the target of each patch selects an object.
    pub(crate) all_match: bool,
    /// Whether the build of the sync has no finding, so that each patch is valid.
    pub(crate) is_valid: bool,
}

/// The facts of FluxInstances, by the digest of the fields on which they depend. Most clusters have the same fields.
#[derive(Default)]
pub(crate) struct Instances(Mutex<Index<Digest, InstanceFacts>>);

impl Instances {
    /// The known facts of a FluxInstance.
    pub(crate) fn get(&self, digest: &Digest) -> Option<InstanceFacts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(digest).cloned()
    }

    /// Adds the facts of a FluxInstance.
    pub(crate) fn add(&self, digest: Digest, facts: InstanceFacts) {
        // Each entry is inserted in one step, so a panic leaves no partial entry.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(digest, facts);
    }
}
