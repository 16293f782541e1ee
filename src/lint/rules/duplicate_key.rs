use crate::lint::rule::{Check, declare};

declare! {
    /// A mapping in a manifest has the same key twice.
    ///
    /// ## Why
    ///
    /// YAML forbids duplicate keys. Flux and kustomize reject the file. Other parsers silently use the last value, so a
    /// test with another tool may not show the fault. Often, two branches added the same block.
    ///
    /// In a strategic merge patch, kustomize ignores the second key if the object has the mapping, and otherwise rejects
    /// the patch. Therefore, the finding is a warning. It is also a warning in a file that a generator copies as text,
    /// since only the program that reads the text parses the file.
    ///
    /// ## How to fix it
    ///
    /// Keep one of the two keys, or merge their values.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [YAML 1.2, 3.2.1.3](https://yaml.org/spec/1.2.2/#3213-node-comparison)
    "duplicate-key", Error, "a mapping has the same key twice", Check::Document,
}
