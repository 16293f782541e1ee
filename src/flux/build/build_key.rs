//! Memo keys of builds. A key contains the parts of an input, not one digest of all parts, since most keys are looked
//! up many times.

use std::sync::Arc;

use arcstr::ArcStr;

use super::digest::Digest;
use crate::base::finding::Finding;
use crate::flux::model::not_built::NotBuiltReason;
use crate::flux::source::artifact::Artifact;
use crate::flux::variables::substitution::ReadValues;

/// The memo key of an output: keys are equal if and only if the inputs are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum BuildKey {
    /// The sync of a FluxInstance.
    Sync(Digest),
    /// The expansion of a ResourceSet with the input providers of its namespace.
    Set(Digest, Vec<Digest>),
    /// The build of the directory of a Kustomization.
    Folder(FolderKey),
    /// The last steps of a Kustomization: substitution and `commonMetadata`.
    Finish(FinishKey),
    /// No build, for a reason that is not a fault.
    NotBuilt(NotBuiltReason),
    /// No build, since the source has these findings.
    Failed(Vec<FindingKey>),
}

/// The input of the build of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FolderKey {
    /// The id of the artifact.
    artifact: ArcStr,
    digest: Digest,
    /// The digest of the Kustomization and its positions, if the path does not exist. The finding points at the path.
    place: Option<Digest>,
}

/// The input of the last steps of a Kustomization.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FinishKey {
    pub(crate) folder: FolderKey,
    pub(crate) metadata: Option<Digest>,
    pub(crate) values: Option<ReadValues>,
    pub(crate) findings: Vec<FindingKey>,
}

/// The identity of a finding: its rule, its message, and the root, the path and the offset of its position.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FindingKey(&'static str, String, Option<ArcStr>, String, usize);

impl FolderKey {
    pub(crate) fn new(artifact: &Arc<Artifact>, digest: Digest, place: Option<Digest>) -> Self {
        Self { artifact: artifact.id.clone(), digest, place }
    }
}

impl From<&Finding> for FindingKey {
    fn from(finding: &Finding) -> Self {
        let (span, message) = (&finding.at.span, finding.message.clone());
        let file = span.file();
        Self(finding.rule, message, file.root().cloned(), file.path().to_string(), span.range().start)
    }
}
