use crate::lint::rule::{Check, declare};

declare! {
    /// An exception accepts the findings of a rule, and the rule has no such finding.
    ///
    /// ## Why
    ///
    /// The fault is fixed, or the exception never worked. A stale exception later accepts a new fault of the same rule without
    /// a review.
    ///
    /// The rule does not report exceptions of rules that are off or not selected, and it reports nothing for a single file or
    /// for selected clusters, since the exception may match a finding elsewhere.
    ///
    /// ## How to fix it
    ///
    /// Remove the exception. If the finding still exists, move the comment to the line or the object of the finding, or correct
    /// `objects` and `paths` of the exception.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: shop
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./shop
    ///   prune: true # fleetwright: allow[missing-prune] the volumes must survive this Kustomization
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: shop
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./shop
    ///   prune: false # fleetwright: allow[missing-prune] the volumes must survive this Kustomization
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// Fleetwright: the comment `# fleetwright: allow[rule] reason`, and `lint.exceptions` of `.fleetwright.yaml` and fleet.yaml
    "unused-exception", Warning, "an exception matches no finding", Check::Exceptions, fixes: [Safe],
}
