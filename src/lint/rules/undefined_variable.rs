use crate::lint::rule::{Check, declare};

declare! {
    /// A variable has no default, and no source defines it.
    ///
    /// ## Why
    ///
    /// Flux replaces `${VAR}` with the value from `postBuild`. From version 2.9 on, Flux does not build objects with an
    /// undefined variable, so it does not apply the Kustomization. Older versions insert an empty string, so that a
    /// host lacks its domain or a path lacks its directory.
    ///
    /// The severity is error in Flux 2.9 or newer, or with the feature gate `StrictPostBuildSubstitutions`. Otherwise,
    /// or if the version is unknown, it is warning. A variable in a comment line of a script or another text, or in a
    /// description of a CustomResourceDefinition, is pedantic if Flux certainly inserts an empty string. The rule
    /// ignores `$VAR` and `$${VAR}`, objects without substitution, and variables that an unknown object may define, such
    /// as a Secret that another tool creates.
    ///
    /// ## How to fix it
    ///
    /// Define the variable in one of the places that the finding shows: in the ConfigMap or Secret of `substituteFrom`,
    /// or in `substitute`. Or set a default, as in `${VAR:=small}`.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. The severity is error from Flux 2.9 on, and with the feature gate from Flux 2.3 on.
    /// Otherwise, it is warning.
    ///
    /// ## Source
    ///
    /// [Flux: post build variable substitution](https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution),
    /// [kustomize-controller#1671](https://github.com/fluxcd/kustomize-controller/pull/1671)
    "undefined-variable", Error, "a variable is not defined and has no default", Check::Build, fixes: [Unsafe],
}
