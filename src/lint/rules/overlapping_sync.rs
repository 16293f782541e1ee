use crate::lint::rule::{Check, declare};

declare! {
    /// The root of one cluster syncs the directory of another cluster.
    ///
    /// ## Why
    ///
    /// `flux bootstrap --path clusters/demo` writes `path: ./clusters/demo` into the directory `clusters/demo`. If a
    /// user copies a directory for a new cluster and does not change the path, the new cluster receives all objects of
    /// the other cluster, and no object of its own directory. A path above the directories of several clusters, such as
    /// `./`, applies the objects of all these clusters to one cluster.
    ///
    /// The linter does not follow such a root. It reports the root once, without its consequences. Roots in other
    /// directories that deliberately sync the same path are one cluster.
    ///
    /// ## How to fix it
    ///
    /// Set the path to the directory of the cluster. Delete the file if no cluster uses it.
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
