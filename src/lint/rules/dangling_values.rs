use crate::base::finding::{Finding, Severity};
use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::presence::missing::MissingSearch;
use crate::lint::refs::values_reference::{ValuesReference, values_of};
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;

declare! {
    /// `valuesFrom` or `substituteFrom` references an object that the cluster does not receive in that namespace.
    ///
    /// ## Why
    ///
    /// Without `optional: true` Flux applies nothing: it does not upgrade the HelmRelease, and the Kustomization fails
    /// before its first object. The object must be in the namespace of the HelmRelease or Kustomization. A HelmRelease
    /// in `apps` cannot read a ConfigMap in `flux-system`.
    ///
    /// The severity is warning for Secrets, because users often create them by hand. The rule reports nothing if one of
    /// these may create the object: an ExternalSecret, a SealedSecret, a certificate, Kyverno, reflector annotations,
    /// the `copyFrom` of a ResourceSet, a chart in that namespace, or a source without a local copy. It also ignores
    /// objects that the configuration declares as `external`.
    ///
    /// ## How to fix it
    ///
    /// Add the object in that namespace, correct the name, or set `optional: true`. If another tool creates the object,
    /// declare it below `external` in `.fleetwright.yaml`.
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
    ///   valuesFrom:
    ///     - kind: ConfigMap
    ///       name: cache-values
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: cache-values
    ///   namespace: shop
    /// data:
    ///   values.yaml: |
    ///     replicas: 2
    /// ---
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
    ///   valuesFrom:
    ///     - kind: ConfigMap
    ///       name: cache-values
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: values references](https://fluxcd.io/flux/components/helm/helmreleases/#values-references)
    "dangling-values", Error, "`valuesFrom` or `substituteFrom` references an object that the cluster does not receive", Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    let mut search = MissingSearch::on(view);
    let releases = view.of_kind(groups::HELM, "HelmRelease");
    for applied in view.of_kind(groups::KUSTOMIZE, "Kustomization").chain(releases) {
        let is_release = applied.object.kind() == "HelmRelease";
        for ValuesReference { node, target: wanted, optional } in values_of(applied.object) {
            // The build of a Kustomization reports its missing ConfigMaps.
            let is_judged = is_release || wanted.kind == "Secret";
            let exists = || view.find("", wanted.kind, wanted.namespace, wanted.name).is_some();
            if optional || !is_judged || exists() {
                continue;
            }
            let Some(missing) = search.missing(wanted) else { continue };
            let by = applied.object.reference();
            let message = format!("{by} reads values from {wanted}, which the cluster does not receive");
            let mut finding = Finding::error(RULE.id, applied.by.place(node.span()), message).about(by);
            let help = if wanted.kind == "Secret" {
                finding.severity = Severity::Warning;
                "add it, or set `optional: true`; if another tool creates it, declare it below `external` in \
                 `.fleetwright.yaml`"
            } else {
                "add it in that namespace, or set `optional: true`; if another tool creates it, declare it below \
                 `external` in `.fleetwright.yaml`"
            };
            found.push(missing.explain(finding, help));
        }
    }
}
