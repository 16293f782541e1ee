use crate::kube::groups;
use crate::lint::fields::flag;
use crate::lint::findings::Findings;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::rule::{Check, declare, pedantic};
use crate::lint::view::View;

declare! {
    /// A HelmRelease creates the namespace that it installs into.
    ///
    /// ## Why
    ///
    /// A namespace that Helm creates has no labels, no Pod Security level, no quota and no network policy. It also has
    /// no owner, so it remains after the removal of the release. All other objects of the namespace must wait until
    /// Flux installs the release.
    ///
    /// The rule ignores a namespace if the cluster also receives the Namespace object, if the namespace already exists,
    /// or if an unknown input may create it.
    ///
    /// ## How to fix it
    ///
    /// Add a Namespace object to the repository, and remove `install.createNamespace`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: cache
    ///   namespace: flux-system
    /// spec:
    ///   chartRef:
    ///     kind: OCIRepository
    ///     name: cache
    ///   interval: 1h
    ///   targetNamespace: shop
    ///   install:
    ///     createNamespace: true
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: shop
    /// ---
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: cache
    ///   namespace: flux-system
    /// spec:
    ///   chartRef:
    ///     kind: OCIRepository
    ///     name: cache
    ///   interval: 1h
    ///   targetNamespace: shop
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: install configuration](https://fluxcd.io/flux/components/helm/helmreleases/#install-configuration)
    "namespace-from-helm", Pedantic, "a HelmRelease creates its target namespace", Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    for applied in view.of_kind(groups::HELM, "HelmRelease") {
        let release = applied.object;
        let Some(target) = release.text_at(&["spec", "targetNamespace"]).filter(|target| !target.is_empty()) else {
            continue;
        };
        let creates = release.node.at_keys(&["spec", "install", "createNamespace"]);
        let Some(creates) = creates.filter(|creates| flag(creates) == Some(true)) else { continue };
        // The namespace of the HelmRelease exists before the HelmRelease.
        if applied.namespace() == Some(target) || target.contains("${") {
            continue;
        }
        let is_remote = release.node.at_keys(&["spec", "kubeConfig"]).is_some_and(|config| !config.is_null());
        if is_remote || !view.is_whole() || view.unknown_sources().may_contain_namespaces() {
            found.unchecked("namespaces that Helm creates, and that unknown inputs may also create");
            continue;
        }
        if matches!(view.presence("", "Namespace", "", target), Presence::Received(_) | Presence::BuiltIn) {
            continue;
        }
        let message = format!("{} creates namespace `{target}`", release.reference());
        let help = format!(
            "add a Namespace `{target}` to the repository: a namespace that Helm creates has no labels and no owner"
        );
        found.push(pedantic(RULE.id, creates.span().clone(), message).help(help).about(release.reference()));
    }
}
