//! API groups that several modules use, and the default namespace of Flux.

/// The group of FluxInstances, ResourceSets and the other kinds of Flux Operator.
pub const FLUX_OPERATOR: &str = "fluxcd.controlplane.io";
/// The group of GitRepositories, OCIRepositories and the other sources.
pub const SOURCE: &str = "source.toolkit.fluxcd.io";
/// The group of ArtifactGenerators.
pub const SOURCE_EXTENSIONS: &str = "source.extensions.fluxcd.io";
/// The group of Flux Kustomizations.
pub const KUSTOMIZE: &str = "kustomize.toolkit.fluxcd.io";
/// The group of HelmReleases.
pub const HELM: &str = "helm.toolkit.fluxcd.io";
/// The group of ImageRepositories, ImagePolicies and ImageUpdateAutomations.
pub const IMAGE: &str = "image.toolkit.fluxcd.io";
/// The group of Alerts, Providers and Receivers.
pub const NOTIFICATION: &str = "notification.toolkit.fluxcd.io";
/// The group of roles and role bindings.
pub const RBAC: &str = "rbac.authorization.k8s.io";

/// The suffix of the groups that the Flux controllers serve, except for source-watcher.
pub const TOOLKIT: &str = ".toolkit.fluxcd.io";

/// The default namespace of Flux.
pub const FLUX_NAMESPACE: &str = "flux-system";

/// The file to which `flux bootstrap` writes the sync of a cluster.
pub const SYNC_FILE: &str = "gotk-sync.yaml";

/// Returns whether a group matches `*.toolkit.fluxcd.io`. The Flux controllers serve these groups.
pub fn is_toolkit(group: &str) -> bool {
    group.ends_with(TOOLKIT)
}
