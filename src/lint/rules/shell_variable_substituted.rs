use crate::lint::rule::{Check, declare};

declare! {
    /// Flux replaces a variable of a script or dashboard.
    ///
    /// ## Why
    ///
    /// Shells, Grafana and other tools use the same syntax for variables as Flux. If a Kustomization has `postBuild`,
    /// Flux substitutes all variables. From version 2.9 on, Flux rejects objects with an undefined variable. Older
    /// versions replace the variable with an empty string, and the script runs without its value. Flux cannot parse
    /// some shell expansions, such as `${list[@]}`, in any version.
    ///
    /// The severity is error if Flux fails, as in [undefined-variable](undefined-variable.md). It is warning if Flux
    /// inserts a default. It is also warning if Flux defines a variable with the same name, and the script sets its own
    /// variable before the first use.
    ///
    /// A variable belongs to the text in these cases:
    ///
    /// - The text sets the variable.
    /// - The text is a dashboard.
    /// - The text is a script, and the name does not have the form of the variables that Flux defines in this
    ///   repository.
    ///
    /// ## How to fix it
    ///
    /// Set the label or the annotation `kustomize.toolkit.fluxcd.io/substitute: disabled` on the object, or write
    /// `$${x}`. For a generator, set the label or annotation in `options`.
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
    /// # web/script.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: script
    ///   namespace: web
    /// data:
    ///   backup.sh: |
    ///     #!/bin/sh
    ///     for table in users orders; do
    ///       pg_dump --table ${table}
    ///     done
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
    /// # web/script.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: script
    ///   namespace: web
    ///   annotations:
    ///     kustomize.toolkit.fluxcd.io/substitute: disabled
    /// data:
    ///   backup.sh: |
    ///     #!/bin/sh
    ///     for table in users orders; do
    ///       pg_dump --table ${table}
    ///     done
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. An undefined variable is an error from Flux 2.9 on. Older versions substitute an
    /// empty string, so the severity is warning.
    ///
    /// ## Source
    ///
    /// [Flux: post build variable substitution](https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution),
    /// [kustomize-controller#1692](https://github.com/fluxcd/kustomize-controller/issues/1692)
    "shell-variable-substituted", Error, "Flux replaces a variable of a script or dashboard", Check::Build,
}
