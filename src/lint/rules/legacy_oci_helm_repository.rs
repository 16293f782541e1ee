use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, pedantic};

declare! {
    /// A HelmRepository has `type: oci`.
    ///
    /// ## Why
    ///
    /// This type of HelmRepository is in maintenance mode. Flux does not reconcile it, so it reports no errors. It
    /// supports neither digests, nor ranges of tags, nor most verification methods. Each HelmRelease pulls the chart
    /// separately. An OCIRepository supports all of this. Flux pulls its chart once for all HelmReleases that reference
    /// it in `chartRef`.
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
    /// ## Source
    ///
    /// [Flux: Helm OCI repository](https://fluxcd.io/flux/components/source/helmrepositories/#helm-oci-repository)
    "legacy-oci-helm-repository", Pedantic, "a HelmRepository has `type: oci`", Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    if !object.is(groups::SOURCE, "HelmRepository") {
        return;
    }
    let Some(kind) = object.node.at_keys(&["spec", "type"]).filter(|kind| kind.text() == Some("oci")) else { return };
    let message = format!("{} has `type: oci`", object.reference());
    let help = "use an OCIRepository and `spec.chartRef`: this type is in maintenance mode";
    found.push(pedantic(RULE.id, kind.span().clone(), message).help(help).about(object.reference()));
}
