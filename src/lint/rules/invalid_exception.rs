use crate::lint::rule::{Check, declare};

declare! {
    /// A comment contains `fleetwright: allow[…]` and has no effect: it does not start with `# fleetwright: allow` in lower
    /// case, it states no reason or no rule, its rule does not exist, or its date is not valid.
    ///
    /// ## Why
    ///
    /// The finding that the comment is about is still reported. An exception without a reason does not tell later readers
    /// whether it is still necessary.
    ///
    /// ## How to fix it
    ///
    /// Write `# fleetwright: allow[rule] reason`. Separate several rules with commas. Add `until 2027-01-31` at the end of the
    /// reason, if the exception has a last day.
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
    ///   prune: false # fleetwright: allow[missing-prune]
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
    "invalid-exception", Error, "a comment with an exception is not valid", Check::Exceptions, fixes: [Unsafe],
}
