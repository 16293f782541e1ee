use crate::lint::rule::{Check, declare};

declare! {
    /// A substitution key is not a valid variable name.
    ///
    /// ## Why
    ///
    /// Flux validates the names of all variables before it substitutes the first one. A valid name contains only
    /// letters, digits and `_`, and does not start with a digit. If a name is invalid, the whole Kustomization fails,
    /// even if no manifest uses the variable. The keys of a ConfigMap are not restricted if no Kustomization references
    /// the ConfigMap in `substituteFrom`.
    ///
    /// ## How to fix it
    ///
    /// Rename the key, or move it to a separate ConfigMap.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: post build variable substitution](https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution),
    /// [fluxcd/pkg: kustomize_varsub.go](https://github.com/fluxcd/pkg/blob/main/kustomize/kustomize_varsub.go)
    "invalid-variable-name", Error, "a substitution key is not a valid variable name", Check::Build,
}
