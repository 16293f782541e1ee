use crate::lint::rule::{Check, declare};

declare! {
    /// A mapping of a manifest has the same key twice.
    ///
    /// ## Why
    ///
    /// YAML forbids it. Flux and kustomize refuse the file; other readers take the last value and say nothing, so a
    /// test that passes elsewhere proves little. It mostly comes from two branches that added the same block.
    ///
    /// ## How to fix it
    ///
    /// Keep one of the two, or merge what stands below them.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: app
    ///   namespace: flux-system
    /// spec:
    ///   dependsOn:
    ///     - name: database
    ///   interval: 1h
    ///   path: ./app
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   dependsOn:
    ///     - name: ingress
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: app
    ///   namespace: flux-system
    /// spec:
    ///   dependsOn:
    ///     - name: database
    ///     - name: ingress
    ///   interval: 1h
    ///   path: ./app
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ```
    ///
    /// ## Source
    ///
    /// [YAML 1.2, 3.2.1.3](https://yaml.org/spec/1.2.2/#3213-node-comparison)
    "duplicate-key", Error, "a mapping has the same key twice", Check::Document,
}
