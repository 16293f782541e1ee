use crate::lint::rule::{Check, declare};

declare! {
    /// A key that is substituted from is no name of a variable.
    ///
    /// ## Why
    ///
    /// Flux looks at the names of all variables before it substitutes the first one. One that is not letters, digits and `_`, or
    /// begins with a digit, fails the whole Kustomization, whether anything reads it or not. ConfigMaps that no Kustomization
    /// substitutes from may have any keys.
    ///
    /// ## How to fix it
    ///
    /// Rename the key, or keep it in a ConfigMap of its own.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/web
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   postBuild:
    ///     substituteFrom:
    ///       - kind: ConfigMap
    ///         name: settings
    /// ---
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: flux-system
    /// data:
    ///   cluster-domain: example.com
    /// # web/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: web
    ///   namespace: web
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: web
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/web
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   postBuild:
    ///     substituteFrom:
    ///       - kind: ConfigMap
    ///         name: settings
    /// ---
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: flux-system
    /// data:
    ///   CLUSTER_DOMAIN: example.com
    /// # web/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: web
    ///   namespace: web
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: post build variable substitution](https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution),
    /// [fluxcd/pkg: kustomize_varsub.go](https://github.com/fluxcd/pkg/blob/main/kustomize/kustomize_varsub.go)
    "invalid-variable-name", Error, "a key that is substituted from is no name of a variable", Check::Build,
}
