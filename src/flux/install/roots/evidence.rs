//! The evidence of the repository for a root.

/// The evidence of the repository for a root. Rules are less certain of a cluster if the evidence is weak.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the facts are independent")]
pub struct RootEvidence {
    /// Whether it is not certain that a cluster applies the directory: only the directory of the cluster exists, unlike
    /// the bootstrap of another cluster, the directory contains others that the bootstrap may sync, a user or a script
    /// applies the directory by hand, or the root already syncs the repository that replaces the tree.
    pub is_assumed: bool,
    /// Whether the tree contains the synced directory, but the source has the name of another repository than the other
    /// roots, or the tree does not contain it, but the source is another branch than that of the other roots. That repository or
    /// branch may contain further directories.
    pub may_have_more_files: bool,
    /// Whether no object of the repository bootstraps any cluster. Another repository may then apply objects to the
    /// cluster too.
    pub lacks_bootstrap: bool,
    /// Whether no file contains the Kustomization of the root. Its name and fields are a guess, and a user may apply the
    /// directory by hand instead.
    pub is_generated: bool,
    /// Whether `flux bootstrap` will write the Kustomization of the root, to a file that its directory already lists. It may
    /// sync another part of the directory.
    pub is_to_come: bool,
}
