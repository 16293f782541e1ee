use crate::lint::rule::{Check, declare};

declare! {
    /// The `spec.path` of a Kustomization does not exist in its source.
    ///
    /// ## Why
    ///
    /// Flux applies nothing of it and what depends on it waits. With `prune: true`, what it applied before stays, so that
    /// nobody notices until something else fails. It mostly comes from a folder that was moved.
    ///
    /// The path is judged as the cluster has it: after the parent's patches and variables, in what the source hands out,
    /// ignored files left out. Silent where no copy of the source, or of the branch or tag that it names, is known. A
    /// Kustomization that no cluster reaches is judged too when it names the repository itself, since it would fail all the same;
    /// not in folders of examples, tests and templates.
    ///
    /// ## How to fix it
    ///
    /// Correct the path. It starts at the root of the source, wherever the Kustomization lies.
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
    /// ## Source
    ///
    /// [Flux: path](https://fluxcd.io/flux/components/kustomize/kustomizations/#path)
    "missing-path", Error, "the path of a Kustomization is not in its source", Check::Build,
}
