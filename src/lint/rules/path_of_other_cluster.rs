use crate::lint::rule::{Check, declare};

declare! {
    /// A Kustomization of one cluster applies the directory of another cluster.
    ///
    /// ## Why
    ///
    /// Users often copy the directory of a cluster for a new cluster. If a path in the copy keeps the name of the first
    /// cluster, the new cluster receives the objects of the first cluster, with its settings, addresses and versions.
    /// Every later change for the first cluster reaches both. Flux cannot detect the fault, since the path exists.
    ///
    /// The rule reports a Kustomization if another cluster applies the same directory with a Kustomization of the same
    /// name, and the path contains the name of that other cluster. The directory with the name of the own cluster must
    /// exist and be unused: no cluster applies it, and no kustomization includes it.
    ///
    /// The severity is warning, since two clusters may share a directory deliberately.
    ///
    /// ## How to fix it
    ///
    /// Set the path to the directory of the cluster. If the clusters share the directory deliberately, delete the other
    /// directory.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: infra
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./infra/second
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # /clusters/second/infra.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: infra
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./infra/second
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # /infra/second/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: flux-system
    /// # /infra/example/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: flux-system
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: infra
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./infra/example
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # /clusters/second/infra.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: infra
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./infra/second
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # /infra/second/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: flux-system
    /// # /infra/example/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: flux-system
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: path](https://fluxcd.io/flux/components/kustomize/kustomizations/#path)
    "path-of-other-cluster", Warning, "a Kustomization of one cluster applies the directory of another cluster",
    Check::Build,
}
