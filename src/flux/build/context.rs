//! The state that the builds of all clusters share.

use std::sync::Arc;

use super::build_key::Key;
use super::output::Output;
use crate::flux::settings::Settings;
use crate::flux::source::sources::Sources;
use crate::flux::variables::shared_substitution::Shared;
use crate::text::Index;

/// What was built already, by its input.
pub(crate) type Memo = Index<Key, Arc<Output>>;

/// What appliers of all clusters share.
pub(crate) struct Ground<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) settings: &'a Settings,
    pub(crate) memo: Memo,
    pub(crate) shared: Shared,
}
