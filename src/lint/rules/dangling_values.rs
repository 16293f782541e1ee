use crate::base::finding::{Finding, Severity};
use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::presence::missing::MissingSearch;
use crate::lint::refs::values_reference::{ValuesReference, values_of};
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;

declare! {
    /// `valuesFrom` or `substituteFrom` names an object that the cluster does not receive in that namespace.
    ///
    /// ## Why
    ///
    /// Without `optional: true` Flux applies nothing: the HelmRelease is not upgraded, and the Kustomization fails before
    /// the first of its objects. The object has to be in the namespace of the HelmRelease or Kustomization itself; a
    /// ConfigMap in `flux-system` is of no use to one in `apps`.
    ///
    /// A warning for Secrets, which are often made by hand. Silent where something may make the object: an
    /// ExternalSecret, a SealedSecret, a certificate, Kyverno, reflector annotations, the `copyFrom` of a ResourceSet, a
    /// chart in that namespace, a source without a copy, what the configuration calls `external`.
    ///
    /// ## How to fix it
    ///
    /// Bring the object in that namespace, correct the name, or set `optional: true`. If something else makes it, say so
    /// below `external` in `.fleetwright.yaml`.
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
    /// ## Source
    ///
    /// [Flux: values references](https://fluxcd.io/flux/components/helm/helmreleases/#values-references)
    "dangling-values", Error, "values come from an object that does not reach the cluster", Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    let mut search = MissingSearch::on(view);
    let releases = view.of_kind(groups::HELM, "HelmRelease");
    for applied in view.of_kind(groups::KUSTOMIZE, "Kustomization").chain(releases) {
        let is_release = applied.object.kind() == "HelmRelease";
        for ValuesReference { node, target: wanted, optional } in values_of(applied.object) {
            // The build of a Kustomization says which of its ConfigMaps is not there.
            let is_judged = is_release || wanted.kind == "Secret";
            let is_there = || view.find("", wanted.kind, wanted.namespace, wanted.name).is_some();
            if optional || !is_judged || is_there() {
                continue;
            }
            let Some(missing) = search.missing(wanted) else { continue };
            let by = applied.object.reference();
            let message = format!("{by} takes values from {wanted}, which nothing brings to the cluster");
            let mut finding = Finding::error(RULE.id, applied.by.place(node.span()), message).about(by);
            let help = if wanted.kind == "Secret" {
                finding.severity = Severity::Warning;
                "bring it, or set `optional: true`; if it is made elsewhere, name it below `external` in `.fleetwright.yaml`"
            } else {
                "bring it in that namespace, or set `optional: true`; if it is made elsewhere, name it below `external` in \
                 `.fleetwright.yaml`"
            };
            found.push(missing.explain(finding, help));
        }
    }
}
