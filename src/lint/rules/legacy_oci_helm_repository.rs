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
    /// Flux keeps the kind in maintenance only: it is not reconciled, so it reports no errors, and it knows neither digests nor
    /// ranges of tags nor most ways to verify. Each HelmRelease pulls the chart by itself. An OCIRepository that a HelmRelease names
    /// in `chartRef` does all of that once.
    ///
    /// ## How to fix it
    ///
    /// Make an OCIRepository of the chart, with `layerSelector` for its content, and name it in `spec.chartRef`.
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
    "legacy-oci-helm-repository", Pedantic, "a chart in a registry is fetched through a HelmRepository", Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    if !object.is(groups::SOURCE, "HelmRepository") {
        return;
    }
    let Some(kind) = object.node.at_keys(&["spec", "type"]).filter(|kind| kind.text() == Some("oci")) else { return };
    let message = format!("{} is of type `oci`", object.reference());
    let help = "use an OCIRepository and `spec.chartRef`: Flux keeps this type in maintenance only";
    found.push(pedantic(RULE.id, kind.span().clone(), message).help(help).about(object.reference()));
}
