use crate::lint::api_uses::RepositoryUses;
use crate::lint::apis::report::report;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};

declare! {
    /// An `apiVersion` is removed from the cluster's release of Flux or Kubernetes.
    ///
    /// ## Why
    ///
    /// The API server rejects an object of such a version, so that the whole apply of its Kustomization fails. A Receiver or a
    /// ResourceSet cannot read an object that it references with such a version. Other references ignore the version, or select
    /// only objects with the same version; those findings are warnings.
    ///
    /// The release of Flux is that of the FluxInstance, of the labels or images of Flux's controllers, of fleet.yaml or of the
    /// configuration. Only settings define the release of Kubernetes: `kubernetesVersion` in `.fleetwright.yaml` or fleet.yaml, or
    /// `--kubernetes-version`. If it is unknown, the versions of Kubernetes' own kinds are not checked.
    ///
    /// ## How to fix it
    ///
    /// Set the replacement. Some replacements have other fields: see the documentation of the kind. `fleetwright upgrade --fix`
    /// replaces the versions of objects that need no other change.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1beta2
    /// kind: HelmRepository
    /// metadata:
    ///   name: charts
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   url: https://charts.example.com
    /// ---
    /// apiVersion: fluxcd.controlplane.io/v1
    /// kind: FluxInstance
    /// metadata:
    ///   name: flux
    ///   namespace: flux-system
    /// spec:
    ///   distribution:
    ///     version: 2.9.x
    ///     registry: ghcr.io/fluxcd
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: HelmRepository
    /// metadata:
    ///   name: charts
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   url: https://charts.example.com
    /// ---
    /// apiVersion: fluxcd.controlplane.io/v1
    /// kind: FluxInstance
    /// metadata:
    ///   name: flux
    ///   namespace: flux-system
    /// spec:
    ///   distribution:
    ///     version: 2.9.x
    ///     registry: ghcr.io/fluxcd
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// `fleetwright upgrade` reports the effect of other versions.
    ///
    /// ## Source
    ///
    /// [Kubernetes: deprecated API migration guide](https://kubernetes.io/docs/reference/using-api/deprecation-guide/),
    /// [Flux: releases](https://fluxcd.io/flux/releases/)
    "removed-api", Error, "an `apiVersion` is removed from the release of the cluster",
    Check::Apis(check), fixes: [Safe],
}

fn check(fleet: &Fleet<'_>, uses: &RepositoryUses, found: &mut Findings) {
    report(fleet, uses, RULE.id, found);
}
