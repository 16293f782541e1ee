use crate::lint::rule::{Check, declare};

declare! {
    /// The `spec.path` of a Kustomization does not exist in its source.
    ///
    /// ## Why
    ///
    /// Flux does not apply the Kustomization, and its dependents wait. Even with `prune: true`, the objects of the last
    /// revision remain, so the fault is hidden until another failure. The usual cause is a moved directory.
    ///
    /// The rule checks the path as the cluster receives it: after the patches and variables of the parent, and without
    /// the files that the source ignores. It does not report a path in a source without a local copy, or without a
    /// local copy of the referenced branch or tag.
    ///
    /// Missing paths with one cause are one finding: a moved directory, a missing directory above, or a cluster without any
    /// of its paths. The help names a directory with a similar name, the only directory that no cluster applies beside
    /// the directories of other clusters, or the only directory with the same name that no cluster applies.
    ///
    /// If the path of a root exists only in a directory of the repository, the linter assumes that this directory is the
    /// root of the source. The rule reports the root if a remote of the checkout has the URL of the source.
    ///
    /// The severity is warning for an OCIRepository or a Bucket: another program packs the artifact, and its root may be
    /// another directory than the root of the repository.
    ///
    /// The rule also checks a Kustomization that no cluster reaches if its source is the repository. The severity is
    /// then warning, since the Kustomization would fail in the same way when a cluster applies it. The rule ignores
    /// such Kustomizations in directories of examples, tests and templates.
    ///
    /// ## How to fix it
    ///
    /// Correct the path. It is relative to the root of the source, not to the file of the Kustomization.
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
    ///   path: ./shops
    ///   prune: true
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
    ///   path: ./clusters/example/shop
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # shop/cart.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: cart
    ///   namespace: flux-system
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. From Flux 2.7 on, `ignoreMissingComponents` permits missing components.
    ///
    /// ## Source
    ///
    /// [Flux: path](https://fluxcd.io/flux/components/kustomize/kustomizations/#path)
    "missing-path", Error, "the path of a Kustomization does not exist in its source", Check::Build,
}
