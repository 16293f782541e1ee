//! API groups that several modules name, and the namespace that Flux is installed in unless it is changed.

/// `FluxInstance`, `ResourceSet` and the other kinds of Flux Operator.
pub const FLUX_OPERATOR: &str = "fluxcd.controlplane.io";
/// `GitRepository`, `OCIRepository` and the other sources.
pub const SOURCE: &str = "source.toolkit.fluxcd.io";
/// `ArtifactGenerator`.
pub const SOURCE_EXTENSIONS: &str = "source.extensions.fluxcd.io";
/// `Kustomization` of Flux.
pub const KUSTOMIZE: &str = "kustomize.toolkit.fluxcd.io";
/// `HelmRelease`.
pub const HELM: &str = "helm.toolkit.fluxcd.io";
/// `ImageRepository`, `ImagePolicy` and `ImageUpdateAutomation`.
pub const IMAGE: &str = "image.toolkit.fluxcd.io";
/// `Alert`, `Provider` and `Receiver`.
pub const NOTIFICATION: &str = "notification.toolkit.fluxcd.io";
/// Roles and bindings.
pub const RBAC: &str = "rbac.authorization.k8s.io";

/// The suffix of the groups that Flux's controllers serve, except for source-watcher.
pub const TOOLKIT: &str = ".toolkit.fluxcd.io";

/// The namespace that Flux is installed in unless it is changed.
pub const FLUX_NAMESPACE: &str = "flux-system";

/// Tells whether a group is one of `*.toolkit.fluxcd.io`, which Flux's controllers serve.
pub fn is_toolkit(group: &str) -> bool {
    group.ends_with(TOOLKIT)
}
