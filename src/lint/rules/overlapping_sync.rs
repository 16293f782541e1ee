use crate::lint::rule::{Check, declare};

declare! {
    /// The root of one cluster syncs the directory of another cluster.
    ///
    /// ## Why
    ///
    /// `flux bootstrap --path clusters/demo` writes `path: ./clusters/demo` into the directory `clusters/demo`. If a
    /// directory is copied for a new cluster and its path is not changed, the new cluster runs everything of the other
    /// one, and nothing of its own directory. A path above the directories of several clusters, such as `./`, applies
    /// the objects of all of them to one cluster.
    ///
    /// The linter does not follow such a root. It reports it once, and not what follows from it. Roots in other
    /// directories that deliberately sync the same path count as one cluster.
    ///
    /// ## How to fix it
    ///
    /// Set the directory of the cluster itself. Delete the file if no cluster uses it.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # /clusters/prod/flux-system/flux-instance.yaml
    /// apiVersion: fluxcd.controlplane.io/v1
    /// kind: FluxInstance
    /// metadata:
    ///   name: flux
    ///   namespace: flux-system
    /// spec:
    ///   distribution:
    ///     version: 2.x
    ///     registry: ghcr.io/fluxcd
    ///   sync:
    ///     kind: GitRepository
    ///     url: https://example.com/fleet.git
    ///     ref: refs/heads/main
    ///     path: clusters/prod
    /// # /clusters/demo/flux-system/flux-instance.yaml
    /// apiVersion: fluxcd.controlplane.io/v1
    /// kind: FluxInstance
    /// metadata:
    ///   name: flux
    ///   namespace: flux-system
    /// spec:
    ///   distribution:
    ///     version: 2.x
    ///     registry: ghcr.io/fluxcd
    ///   sync:
    ///     kind: GitRepository
    ///     url: https://example.com/fleet.git
    ///     ref: refs/heads/main
    ///     path: clusters/prod
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// # /clusters/prod/flux-system/flux-instance.yaml
    /// apiVersion: fluxcd.controlplane.io/v1
    /// kind: FluxInstance
    /// metadata:
    ///   name: flux
    ///   namespace: flux-system
    /// spec:
    ///   distribution:
    ///     version: 2.x
    ///     registry: ghcr.io/fluxcd
    ///   sync:
    ///     kind: GitRepository
    ///     url: https://example.com/fleet.git
    ///     ref: refs/heads/main
    ///     path: clusters/prod
    /// # /clusters/demo/flux-system/flux-instance.yaml
    /// apiVersion: fluxcd.controlplane.io/v1
    /// kind: FluxInstance
    /// metadata:
    ///   name: flux
    ///   namespace: flux-system
    /// spec:
    ///   distribution:
    ///     version: 2.x
    ///     registry: ghcr.io/fluxcd
    ///   sync:
    ///     kind: GitRepository
    ///     url: https://example.com/fleet.git
    ///     ref: refs/heads/main
    ///     path: clusters/demo
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: bootstrap](https://fluxcd.io/flux/installation/bootstrap/generic-git-server/)
    "overlapping-sync", Warning, "the root of one cluster syncs the directory of another cluster", Check::Build,
}
