//! The artifact of a source.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use arcstr::ArcStr;

use crate::base::finding::Finding;
use crate::kustomize::{Builder, Files, Totals};
use crate::text::PathKind;

/// The files of an artifact, and the builds of its directories. Each directory is built once.
#[derive(Debug)]
pub struct Artifact {
    /// An id that is equal for sources with equal artifacts, and stable between runs.
    pub id: ArcStr,
    /// Builds the directories. The paths of files start at the root of the artifact.
    pub builder: Builder,
    /// The builder for appliers that decrypt files before the build.
    decrypting: OnceLock<Builder>,
    /// The files of the source, including ignored files.
    fetched: OnceLock<Files>,
    /// The directories without files; see [`Packed::emptied`].
    emptied: BTreeSet<String>,
}

/// The content of an artifact.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) files: Files,
    /// The directories without files: the source ignores each of their files, but not the directories themselves.
    pub(super) emptied: BTreeSet<String>,
}

impl From<Files> for Packed {
    fn from(files: Files) -> Self {
        Self { files, emptied: BTreeSet::new() }
    }
}

impl Artifact {
    /// Creates the artifact with an id and content. Its builds count with the other builds of the run.
    pub(super) fn new(id: ArcStr, content: Packed, totals: &Arc<Totals>) -> Self {
        let Packed { files, emptied } = content;
        let builder = Builder::new(files).within(totals);
        Self { id, builder, decrypting: OnceLock::new(), fetched: OnceLock::new(), emptied }
    }

    /// The builder that treats SOPS-encrypted files as decrypted.
    pub fn decrypting(&self) -> &Builder {
        let new = || Builder::new(self.files().clone().with_decryption()).within(self.builder.totals());
        self.decrypting.get_or_init(new)
    }

    /// Records the files of the source, including ignored files.
    pub(super) fn made_of(&self, fetched: &Files) {
        self.fetched.get_or_init(|| fetched.clone());
    }

    /// Returns whether a file or directory exists in the source but not in the artifact.
    pub fn leaves_out(&self, path: &str) -> bool {
        let has = |files: &Files| files.tree().path_kind(path) != PathKind::Missing;
        self.fetched.get().is_some_and(has) && !has(self.files())
    }

    /// Returns whether a directory exists, with or without files.
    pub fn has_folder(&self, path: &str) -> bool {
        self.files().tree().has_folder(path) || self.emptied.contains(path)
    }

    /// The files of the artifact.
    pub fn files(&self) -> &Files {
        self.builder.files()
    }
}

/// The result of resolving a source to its artifact.
#[derive(Debug, Clone)]
pub enum Resolution {
    /// The artifact.
    Artifact(Arc<Artifact>),
    /// No copy of the source's address is available. The text is the URL, with `#` and the reference if the source has
    /// a reference.
    NoCopy(ArcStr),
    /// The artifact is unknown, for a reason that is not a fault. The reason is a clause about the source.
    Unknown(ArcStr),
    /// The cluster does not have the source.
    Missing,
    /// The controller fails to create the artifact, for the reasons in the findings.
    Failed(Vec<Finding>),
}
