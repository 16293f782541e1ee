use crate::lint::api_uses::RepositoryUses;
use crate::lint::apis::report::report;
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::rule::{Check, declare};

declare! {
    /// An `apiVersion` is deprecated in the cluster's release of Flux or Kubernetes.
    ///
    /// ## Why
    ///
    /// The API server still accepts the object, but a later release removes the version. The upgrade to that release then fails.
    ///
    /// If the release of Flux on a cluster is unknown, the linter compares with the newest release. A version that this release
    /// removes is then reported as a warning.
    ///
    /// ## How to fix it
    ///
    /// Set the replacement. Some replacements have other fields: see the documentation of the kind. `fleetwright upgrade --fix`
    /// replaces the versions of objects that need no other change.
    ///
    /// If neither the release of Flux nor a CustomResourceDefinition is in the repository, the fix needs a review: the cluster
    /// may not serve the replacement yet.
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
    ///     version: 2.7.x
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
    ///     version: 2.7.x
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
    "deprecated-api", Warning, "an `apiVersion` is deprecated in the release of the cluster",
    Check::Apis(check), fixes: [Safe, Unsafe],
}

fn check(fleet: &Fleet<'_>, uses: &RepositoryUses, found: &mut Findings) {
    report(fleet, uses, RULE.id, found);
}
