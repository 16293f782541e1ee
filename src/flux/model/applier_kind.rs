//! The kinds of appliers, and the states of their builds.

use super::not_built::NotBuiltReason;

/// The kind of an applier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ApplierKind {
    /// The bootstrap by a user: `kubectl apply` of a FluxInstance, or `flux bootstrap`.
    Bootstrap,
    /// A Kustomization.
    Kustomization,
    /// A FluxInstance, which generates the objects of its `sync`.
    FluxInstance,
    /// A ResourceSet.
    ResourceSet,
    /// A directory of a repository without a root.
    Folder,
}

/// The state of an applier's build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The build succeeded.
    Built,
    /// The build failed; the findings contain the reasons.
    Failed,
    /// There was no build, for a reason that is not a fault, such as a source without a copy.
    NotBuilt(NotBuiltReason),
}
