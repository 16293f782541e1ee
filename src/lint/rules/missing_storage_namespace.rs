use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, pedantic};

declare! {
    /// A HelmRelease has a `targetNamespace` and no `storageNamespace`.
    ///
    /// ## Why
    ///
    /// helm-controller keeps the release's history in the namespace of the HelmRelease, not in the one that it installs into.
    /// `helm list -n` and `helm history -n` of the target find nothing there, and a second HelmRelease of the same release name in
    /// that namespace shares the history, so that each takes the other's release for its own.
    ///
    /// ## How to fix it
    ///
    /// Set `spec.storageNamespace` to the target, or put the HelmRelease into that namespace.
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
    /// ```
    ///
    /// ## Good
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
    ///   storageNamespace: shop
    ///   targetNamespace: shop
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: storage namespace](https://fluxcd.io/flux/components/helm/helmreleases/#storage-namespace)
    "missing-storage-namespace", Pedantic, "a HelmRelease keeps its history in another namespace than its objects", Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let release = applied.object;
    if !release.is(groups::HELM, "HelmRelease") || applied.completion.mentions("storageNamespace") {
        return;
    }
    let said = |field: &str| {
        release.node.at_keys(&["spec", field]).filter(|node| node.text().is_some_and(|text| !text.is_empty()))
    };
    let Some(target) = said("targetNamespace").filter(|target| target.text() != applied.namespace()) else { return };
    let name = target.text().unwrap_or_default();
    // One that is not known may be its own.
    if said("storageNamespace").is_some() || name.contains("${") {
        return;
    }
    let message = format!("{} installs into `{name}` and keeps its history elsewhere", release.reference());
    let help = format!("set `spec.storageNamespace` to `{name}`, so that `helm history -n {name}` finds it");
    found.push(pedantic(RULE.id, target.span().clone(), message).help(help).about(release.reference()));
}
