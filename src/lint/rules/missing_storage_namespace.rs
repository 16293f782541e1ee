use crate::base::finding::Safety;
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, pedantic};
use crate::yaml::fix;

declare! {
    /// A HelmRelease has a `targetNamespace` and no `storageNamespace`.
    ///
    /// ## Why
    ///
    /// helm-controller stores the history of a release in the namespace of the HelmRelease, not in the target
    /// namespace. `helm list -n` and `helm history -n` do not find the release in the target namespace. A second
    /// HelmRelease with the same release name in the same namespace shares the history. Each HelmRelease then treats
    /// the release of the other HelmRelease as its own.
    ///
    /// ## How to fix it
    ///
    /// For a new release, set `spec.storageNamespace` to the target namespace. Do not change a live release: if its
    /// storage namespace, its target namespace or its name changes, helm-controller uninstalls the release and installs
    /// it again. This deletes its volumes unless the chart keeps them. For a live release, use `helm history -n
    /// <namespace of the HelmRelease>`.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: storage namespace](https://fluxcd.io/flux/components/helm/helmreleases/#storage-namespace),
    /// [helm-controller: changes of the release target](https://github.com/fluxcd/helm-controller/blob/main/internal/action/verify.go)
    "missing-storage-namespace", Pedantic, "a HelmRelease stores its history outside of its target namespace", Check::Object(check),
    fixes: [Unsafe],
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let release = applied.object;
    if !release.is(groups::HELM, "HelmRelease") || applied.completion.mentions("storageNamespace") {
        return;
    }
    let text = |field: &str| {
        release.node.at_keys(&["spec", field]).filter(|node| node.text().is_some_and(|value| !value.is_empty()))
    };
    let Some(target) = text("targetNamespace").filter(|target| target.text() != applied.namespace()) else { return };
    let name = target.text().unwrap_or_default();
    // An unknown namespace may be the namespace of the HelmRelease.
    if text("storageNamespace").is_some() || name.contains("${") {
        return;
    }
    let message =
        format!("{} installs into namespace `{name}` and stores its history in another namespace", release.reference());
    let help = format!(
        "set `spec.storageNamespace` to `{name}` before the first installation; do not change a live release, because \
         helm-controller then uninstalls the release and installs it again"
    );
    let fix = release
        .node
        .get("spec")
        .and_then(|spec| fix::set(spec, "storageNamespace", name, &["targetNamespace"], Safety::Unsafe));
    let finding = pedantic(RULE.id, target.span().clone(), message).help(help).fixed_by(fix);
    let summary = " HelmReleases install into another namespace than that of their history";
    let finding = finding.caused_by("history", "", summary).help_for_all(
        "set `spec.storageNamespace` to `spec.targetNamespace` before the first installation; do not change a live \
         release, because helm-controller then uninstalls the release and installs it again",
    );
    found.push(finding.about(release.reference()));
}
