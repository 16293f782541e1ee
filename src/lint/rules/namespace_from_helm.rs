use crate::kube::groups;
use crate::lint::fields::flag;
use crate::lint::findings::Findings;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::rule::{Check, declare, pedantic};
use crate::lint::view::View;

declare! {
    /// A HelmRelease makes the namespace that it installs into.
    ///
    /// ## Why
    ///
    /// A namespace that Helm makes has no labels, no Pod Security level, no quota and no network policy, and nobody owns it:
    /// it stays when the release is removed. What else belongs into it must wait until the release was installed once.
    ///
    /// Silent where the cluster receives that Namespace as well, or already has it, and where what is not known may bring it.
    ///
    /// ## How to fix it
    ///
    /// Put a Namespace object into the repository, and leave `install.createNamespace` out.
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
    /// ## Source
    ///
    /// [Flux: install configuration](https://fluxcd.io/flux/components/helm/helmreleases/#install-configuration)
    "namespace-from-helm", Pedantic, "a HelmRelease makes its namespace by itself", Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    for applied in view.of_kind(groups::HELM, "HelmRelease") {
        let release = applied.object;
        let Some(target) = release.text_at(&["spec", "targetNamespace"]).filter(|target| !target.is_empty()) else {
            continue;
        };
        let creates = release.node.at_keys(&["spec", "install", "createNamespace"]);
        let Some(creates) = creates.filter(|creates| flag(creates) == Some(true)) else { continue };
        // Its own is there before it is.
        if applied.namespace() == Some(target) || target.contains("${") {
            continue;
        }
        let is_elsewhere = release.node.at_keys(&["spec", "kubeConfig"]).is_some_and(|config| !config.is_null());
        if is_elsewhere || !view.is_whole() || view.unknown_sources().may_contain_namespaces() {
            found.unchecked("namespaces that Helm makes, and others may make as well");
            continue;
        }
        if matches!(view.presence("", "Namespace", "", target), Presence::Received(_) | Presence::BuiltIn) {
            continue;
        }
        let message = format!("{} makes namespace `{target}` by itself", release.reference());
        let help =
            format!("add a Namespace `{target}` to the repository: one that Helm makes has no labels and no owner");
        found.push(pedantic(RULE.id, creates.span().clone(), message).help(help).about(release.reference()));
    }
}
