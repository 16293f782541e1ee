//! The state that the builds of all clusters share.

use std::sync::{Arc, Mutex, PoisonError};

use super::build_key::BuildKey;
use super::output::Output;
use crate::flux::model::not_built::NotBuiltReason;
use crate::flux::settings::Settings;
use crate::flux::source::sources::Sources;
use crate::flux::variables::shared_substitution::SubstitutionCache;
use crate::text::Index;

/// The outputs of finished builds.
pub(crate) type Memo = Index<BuildKey, Arc<Output>>;

/// The state that the builds of all clusters share.
pub(crate) struct BuildContext<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) settings: &'a Settings,
    pub(crate) memo: Memo,
    pub(crate) shared: SubstitutionCache,
    pub(crate) unbuilt: Unbuilt,
}

/// The outputs of appliers that are not built, by the reason. Many appliers of many clusters share a reason.
#[derive(Default)]
pub(crate) struct Unbuilt(Mutex<Index<NotBuiltReason, Arc<Output>>>);

impl Unbuilt {
    /// The output of an applier that is not built.
    pub(crate) fn output(&self, reason: NotBuiltReason) -> Arc<Output> {
        // Each entry is inserted in one step, so a panic leaves no partial entry.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry_or(reason.clone(), || Arc::new(Output::not_built(reason))).clone()
    }
}
