//! What a source hands out.

use std::sync::{Arc, OnceLock};

use crate::base::finding::Finding;
use crate::kustomize::{Builder, Files};

/// The files that a source hands out, and the builds of their folders, each made once.
#[derive(Debug)]
pub struct Artifact {
    /// Equal for sources that hand out the same; stable between runs.
    pub id: Arc<str>,
    /// Builds its folders; the paths of its files are those in the artifact, from the artifact's root.
    pub builder: Builder,
    /// The same for who decrypts first.
    decrypting: OnceLock<Builder>,
    /// What it was made of, where that may have more files.
    fetched: OnceLock<Files>,
}

impl Artifact {
    /// What a source hands out under an id.
    pub(super) fn new(id: Arc<str>, files: Files) -> Self {
        Self { id, builder: Builder::new(files), decrypting: OnceLock::new(), fetched: OnceLock::new() }
    }

    /// Builds its folders as if what SOPS encrypted in them were decrypted before.
    pub fn decrypting(&self) -> &Builder {
        self.decrypting.get_or_init(|| Builder::new(self.files().clone().with_decryption()))
    }

    /// Notes what it was made of.
    pub(super) fn made_of(&self, fetched: &Files) {
        self.fetched.get_or_init(|| fetched.clone());
    }

    /// Whether a folder was there before the source left out what it does not hand out.
    pub fn leaves_out(&self, folder: &str) -> bool {
        self.fetched.get().is_some_and(|files| files.tree().has_folder(folder))
            && !self.files().tree().has_folder(folder)
    }

    /// Its files.
    pub fn files(&self) -> &Files {
        self.builder.files()
    }
}

/// What is known of what a source hands out.
#[derive(Debug, Clone)]
pub enum Resolution {
    /// This.
    Artifact(Arc<Artifact>),
    /// It is that of an address that no copy is known of: the URL, with `#` and the reference when it has one.
    NoCopy(Arc<str>),
    /// It cannot be told here, for a reason that is no fault; the reason says what `it` is.
    Unknown(Arc<str>),
    /// The cluster has no such source.
    Missing,
    /// The cluster cannot make it either.
    Failed(Vec<Finding>),
}
