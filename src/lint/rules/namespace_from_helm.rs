use crate::flux::Applied;
use crate::lint::fields::flag;
use crate::lint::rule::{declare, pedantic};
use crate::lint::{Check, Context, Found};

declare! {
    /// A HelmRelease makes the namespace that it installs into.
    ///
    /// ## Why
    ///
    /// A namespace that Helm makes has no labels, no Pod Security level, no quota and no network policy, and nobody owns it:
    /// it stays when the release is removed. What else belongs into it must wait until the release was installed once.
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
    "namespace-from-helm", Pedantic, "a HelmRelease makes its namespace by itself", Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Found) {
    let release = applied.object;
    if !release.is("helm.toolkit.fluxcd.io", "HelmRelease") {
        return;
    }
    let Some(target) = release.text_at(&["spec", "targetNamespace"]).filter(|target| !target.is_empty()) else { return };
    let creates = release.node.at_keys(&["spec", "install", "createNamespace"]);
    let Some(creates) = creates.filter(|creates| flag(creates) == Some(true)) else { return };
    let message = format!("{} makes namespace `{target}` by itself", release.reference());
    let help = format!("add a Namespace `{target}` to the repository: one that Helm makes has no labels and no owner");
    found.push(pedantic(RULE.id, creates.span().clone(), message).help(help).about(release.reference()));
}
