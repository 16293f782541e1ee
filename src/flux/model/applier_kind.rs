//! The kinds of appliers, and the states of their builds.

use std::sync::Arc;

/// What an applier is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ApplierKind {
    /// What somebody installed: `kubectl apply` of a FluxInstance, `flux bootstrap`.
    Bootstrap,
    /// A Kustomization.
    Kustomization,
    /// A FluxInstance, which makes the objects of its sync.
    FluxInstance,
    /// A ResourceSet.
    ResourceSet,
    /// A folder of a repository without a root.
    Folder,
}

/// How an applier's build went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It built.
    Built,
    /// It does not build; the findings say why.
    Failed,
    /// It was not built, for a reason that is no fault: a source without a copy, a live input provider.
    NotBuilt(Arc<str>),
}
