use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, pedantic};
use crate::lint::view::View;

declare! {
    /// A HelmRepository has `type: oci`.
    ///
    /// ## Why
    ///
    /// This type of HelmRepository is in maintenance mode. Flux does not reconcile it, so its status does not show
    /// errors. It does not support digests, ranges of tags, or most verification methods. Flux pulls the chart
    /// separately for each HelmRelease. An OCIRepository supports these features, and Flux pulls its chart once for all
    /// HelmReleases that reference it in `chartRef`.
    ///
    /// ## How to fix it
    ///
    /// Create an OCIRepository for the chart, with a `layerSelector` for its content, and reference it in
    /// `spec.chartRef`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: HelmRepository
    /// metadata:
    ///   name: charts
    ///   namespace: shop
    /// spec:
    ///   type: oci
    ///   url: oci://registry.example.com/charts
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: OCIRepository
    /// metadata:
    ///   name: cache
    ///   namespace: shop
    /// spec:
    ///   interval: 10m
    ///   layerSelector:
    ///     mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip
    ///     operation: copy
    ///   ref:
    ///     semver: 1.x
    ///   url: oci://registry.example.com/charts/cache
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.3, until now. HelmReleases have `chartRef` from this version on.
    ///
    /// ## Source
    ///
    /// [Flux: Helm OCI repository](https://fluxcd.io/flux/components/source/helmrepositories/#helm-oci-repository)
    "legacy-oci-helm-repository", Pedantic, "a HelmRepository has `type: oci`", Check::Cluster(check),
}

/// The first release of Flux whose HelmReleases can read a chart from an OCIRepository.
const CHART_REF_SINCE: (u64, u64) = (2, 3);

fn check(view: &View<'_>, found: &mut Findings) {
    for applied in view.of_kind(groups::SOURCE, "HelmRepository") {
        let object = applied.object;
        let kind = object.node.at_keys(&["spec", "type"]).filter(|kind| kind.text() == Some("oci"));
        let Some(kind) = kind.filter(|_| view.has_flux(CHART_REF_SINCE) != Some(false)) else { continue };
        let message = format!("{} has `type: oci`", object.reference());
        let help = "use an OCIRepository and `spec.chartRef` (since Flux 2.3): this type is in maintenance mode";
        let finding = pedantic(RULE.id, kind.span().clone(), message).help(help).about(object.reference());
        found.push(finding.caused_by("oci", "", " HelmRepositories have `type: oci`"));
    }
}
