//! API groups of Flux.

/// The group of Flux's sources.
pub(super) const SOURCES: &str = "source.toolkit.fluxcd.io";
/// The group of Flux's `Kustomization`.
pub(super) const KUSTOMIZE: &str = "kustomize.toolkit.fluxcd.io";
/// The group of `HelmRelease`.
pub(super) const HELM: &str = "helm.toolkit.fluxcd.io";
/// The group of Flux Operator.
pub(super) const OPERATOR: &str = "fluxcd.controlplane.io";
