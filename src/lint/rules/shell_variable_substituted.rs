use crate::lint::rule::{Check, declare};

declare! {
    /// Flux replaces a variable that a script or dashboard means for itself.
    ///
    /// ## Why
    ///
    /// Shells, Grafana and others write variables as Flux does. Where a Kustomization has `postBuild`, Flux takes all of them for
    /// its own: from 2.9 on it refuses to build what reads one that it does not know, before it put an empty text in its place,
    /// and the script ran without its values. Some forms of shells, such as `${list[@]}`, it cannot read in any version.
    ///
    /// An error where Flux fails, as for [undefined-variable](undefined-variable.md); a warning elsewhere, where a default
    /// takes the variable's place, and where Flux has one of the name that a script sets before it reads it. Whether a variable
    /// is the text's own is told by the text: it sets the variable, is a dashboard, or is a script and the name is one that no
    /// variable of Flux here looks like.
    ///
    /// ## How to fix it
    ///
    /// Set the label or the annotation `kustomize.toolkit.fluxcd.io/substitute: disabled` on the object, or write `$${x}`. For
    /// what a generator makes, `options` takes labels and annotations.
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
    /// ## Source
    ///
    /// [Flux: post build variable substitution](https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution),
    /// [kustomize-controller#1692](https://github.com/fluxcd/kustomize-controller/issues/1692)
    "shell-variable-substituted", Error, "Flux replaces a variable that a script or dashboard means for itself", Check::Build,
}
