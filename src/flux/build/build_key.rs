//! What tells inputs of builds apart: what they are, not a digest of it, since most of them are asked for many times.

use crate::flux::variables::substitution::ReadValues;
use std::sync::Arc;

use super::digest::Digest;
use crate::base::finding::Finding;
use crate::flux::source::artifact::Artifact;

/// The key of an output: equal inputs have equal keys, others never.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// A FluxInstance.
    Sync(Digest),
    /// A ResourceSet, and the providers that it may ask.
    Set(Digest, Vec<Digest>),
    /// The folder of a Kustomization.
    Folder(FolderKey),
    /// The end of a Kustomization's build.
    Finish(Arc<FinishKey>),
    /// What is not built, by what is said of it.
    Nothing(Arc<str>),
}

/// What a folder is built from and with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FolderKey {
    /// The artifact's place in memory: there is one of each, and it stays.
    artifact: usize,
    digest: Digest,
    /// The Kustomization with its places, where its path is what is wrong.
    place: Option<Digest>,
}

/// What a build is taken to its end with.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct FinishKey {
    pub(crate) folder: FolderKey,
    pub(crate) metadata: Option<Digest>,
    pub(crate) values: Option<ReadValues>,
    pub(crate) faults: Vec<Fault>,
}

/// What is wrong with variables: the message, and the path and offset of its place.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fault(String, String, usize);

impl FolderKey {
    pub(crate) fn new(artifact: &Arc<Artifact>, digest: Digest, place: Option<Digest>) -> Self {
        Self { artifact: Arc::as_ptr(artifact).addr(), digest, place }
    }
}

impl From<&Finding> for Fault {
    fn from(finding: &Finding) -> Self {
        let span = &finding.at.span;
        Self(finding.message.clone(), span.file().path().to_string(), span.range().start)
    }
}
