use crate::lint::rule::{Check, declare};

declare! {
    /// The target of a patch matches no object.
    ///
    /// ## Why
    ///
    /// A patch with a `target` that selects nothing is left out without a word, by kustomize and by Flux. So a setting
    /// that everybody takes for granted is not there: often since a name, a namespace or the version of an API changed.
    ///
    /// Silent when the same patch matches on some cluster, or for some Kustomization: it is meant for those. Silent too
    /// where objects may be missing because something was not built (a remote base, an inflated chart, a
    /// `gotk-components.yaml` that is still to be written).
    ///
    /// ## How to fix it
    ///
    /// Correct the target, or remove the patch. Every field of a target is a regular expression for the whole text, and
    /// `version` is that of the object as it is written.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # web.yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    ///   namespace: apps
    /// # source.yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources:
    ///   - flux-system/gotk-sync.yaml
    ///   - source.yaml
    ///   - web.yaml
    /// patches:
    ///   - target:
    ///       kind: Deployment
    ///       name: webb
    ///     patch: |
    ///       - op: add
    ///         path: /metadata/labels
    ///         value: {team: apps}
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// # web.yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    ///   namespace: apps
    /// # source.yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources:
    ///   - flux-system/gotk-sync.yaml
    ///   - source.yaml
    ///   - web.yaml
    /// patches:
    ///   - target:
    ///       kind: Deployment
    ///       name: web
    ///     patch: |
    ///       - op: add
    ///         path: /metadata/labels
    ///         value: {team: apps}
    /// ```
    ///
    /// ## Source
    ///
    /// [kustomize: patches](https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/patches/)
    "unmatched-patch", Warning, "the target of a patch matches no object", Check::Build,
}
