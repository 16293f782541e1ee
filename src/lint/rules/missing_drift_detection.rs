use crate::base::finding::Safety;
use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, missing_in_spec, pedantic};
use crate::lint::view::View;
use crate::yaml::fix;

declare! {
    /// A HelmRelease does not enable drift detection.
    ///
    /// ## Why
    ///
    /// helm-controller compares an installed release with the cluster only if `spec.driftDetection.mode` is `enabled`
    /// or `warn`. Otherwise, if a user scales a Deployment or deletes an object, the change stays until the next
    /// upgrade. The HelmRelease remains ready.
    ///
    /// ## How to fix it
    ///
    /// Set `spec.driftDetection.mode` to `enabled`, or to `warn` to see the drift first.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: cache
    ///   namespace: shop
    /// spec:
    ///   chartRef:
    ///     kind: OCIRepository
    ///     name: cache
    ///   interval: 1h
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: cache
    ///   namespace: shop
    /// spec:
    ///   chartRef:
    ///     kind: OCIRepository
    ///     name: cache
    ///   interval: 1h
    ///   driftDetection:
    ///     mode: enabled
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.2, until now. HelmReleases have `driftDetection` from this version on, in `v2beta2` and `v2`.
    ///
    /// ## Source
    ///
    /// [Flux: drift detection](https://fluxcd.io/flux/components/helm/helmreleases/#drift-detection)
    "missing-drift-detection", Pedantic, "a HelmRelease does not enable drift detection", Check::Cluster(check),
    fixes: [Unsafe],
}

/// The first release of Flux whose HelmReleases have the field `driftDetection`, from `v2beta2` on.
const SINCE: (u64, u64) = (2, 2);

fn check(view: &View<'_>, found: &mut Findings) {
    for applied in view.of_kind(groups::HELM, "HelmRelease") {
        let release = applied.object;
        let is_unknown_field = release.api_version().ends_with("/v2beta1") || view.has_flux(SINCE) == Some(false);
        if is_unknown_field || applied.completion.mentions("driftDetection") {
            continue;
        }
        let place = match release.node.at_keys(&["spec", "driftDetection", "mode"]) {
            None => missing_in_spec(release, "driftDetection"),
            // An empty mode is the default, `disabled`.
            Some(mode) if mode.is_null() || matches!(mode.text(), Some("disabled" | "")) => mode.span().clone().into(),
            Some(_) => continue,
        };
        let message = format!("{} does not detect drift", release.reference());
        let help = "set `spec.driftDetection.mode` to `enabled` or `warn`: otherwise Flux ignores changes on the \
                    cluster";
        let spec = release.node.get("spec");
        let fix = match spec.and_then(|spec| spec.get("driftDetection")) {
            Some(detection) => fix::set(detection, "mode", "enabled", &[], Safety::Unsafe),
            None => spec.and_then(|spec| {
                fix::add(spec, &["interval", "timeout"], &["driftDetection:", "  mode: enabled"], Safety::Unsafe)
            }),
        };
        let fix = fix.map(|fix| fix.moved(|span| applied.by.place(span)));
        let finding = pedantic(RULE.id, place, message).help(help).fixed_by(fix);
        found.push(finding.about(release.reference()).caused_by("drift", "", " HelmReleases do not detect drift"));
    }
}
