use crate::lint::rule::{Check, declare};

declare! {
    /// The last day of an exception is over.
    ///
    /// ## Why
    ///
    /// An exception with `until` accepts a finding for a limited time, such as until a migration ends. After the last day, the
    /// exception has no effect, and its findings are reported again.
    ///
    /// The date of the run is the current date in UTC, or the date that the environment variable `SOURCE_DATE_EPOCH` sets.
    ///
    /// ## How to fix it
    ///
    /// Fix the fault and remove the exception, or set a later date.
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
    ///   # fleetwright: allow[missing-prune] the data moves to another cluster, until 2020-06-30
    ///   prune: false
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
    ///   prune: true
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
    "expired-exception", Warning, "an exception has passed its last day", Check::Exceptions, fixes: [Unsafe],
}
