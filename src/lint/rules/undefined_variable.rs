use crate::lint::rule::{Check, declare};

declare! {
    /// A variable without default is defined by nothing.
    ///
    /// ## Why
    ///
    /// Flux puts the values of `postBuild` in the place of `${VAR}`. From 2.9 on it refuses to build what reads a variable that
    /// nothing defines, and so nothing of that Kustomization is applied any longer. Before, an empty text came in its place: a
    /// host without its domain, a path without its folder.
    ///
    /// An error where Flux is strict: where its version is 2.9 or newer, or where the feature gate
    /// `StrictPostBuildSubstitutions` is on. A warning elsewhere, and where nothing says which version runs. Silent where nothing
    /// is substituted, for `$VAR` and `$${VAR}`, and where something that is not known may define it: a Secret that is made
    /// elsewhere, say.
    ///
    /// ## How to fix it
    ///
    /// Define it in one of the places that the finding shows: the ConfigMap or Secret of `substituteFrom`, or `substitute`. Or
    /// give a default, as in `${VAR:=small}`.
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
    ///     substitute:
    ///       DOMAIN: example.com
    /// # web/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: web
    /// data:
    ///   host: web.${DOMIAN}
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
    ///     substitute:
    ///       DOMAIN: example.com
    /// # web/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: web
    /// data:
    ///   host: web.${DOMAIN}
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: post build variable substitution](https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution),
    /// [kustomize-controller#1671](https://github.com/fluxcd/kustomize-controller/pull/1671)
    "undefined-variable", Error, "a variable without default is defined by nothing", Check::Build,
}
