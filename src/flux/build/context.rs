//! The state that the builds of all clusters share.

use std::sync::Arc;

use super::build_key::BuildKey;
use super::output::Output;
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
}
