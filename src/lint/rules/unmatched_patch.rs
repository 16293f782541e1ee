use crate::lint::rule::{Check, declare};

declare! {
    /// The target of a patch does not match any object.
    ///
    /// ## Why
    ///
    /// kustomize and Flux silently skip a patch if its `target` does not select any object. The intended setting is
    /// then missing. The usual cause is a changed name, namespace or API version.
    ///
    /// The patches of a FluxInstance select the objects that Flux Operator generates: the objects of the listed
    /// components, the roles and network policies of Flux, and the objects of `sync`. The operator sets the namespace
    /// after the patches, so a `namespace` in the target matches only the objects of `sync`.
    ///
    /// The severity is pedantic for a target with a kind and a label or annotation selector, but without a name,
    /// because later objects may have the label or annotation.
    ///
    /// The rule does not report a patch that only restricts the objects that it selects, since later objects may match:
    /// a patch that deletes objects, or a JSON patch that sets `spec.serviceAccountName` of all HelmReleases or
    /// Kustomizations. It does not report a patch that matches on another cluster, or for another Kustomization. It also does not
    /// report a patch if objects may be missing because an input is not built: a remote base, an inflated chart, or a
    /// `gotk-components.yaml` that does not exist yet.
    ///
    /// ## How to fix it
    ///
    /// Correct the target, or remove the patch. Every field of a target is a regular expression that must match the
    /// whole value. `version` is the version in the manifest of the object. Flux substitutes variables after it applies
    /// the patches. Therefore, the target for an object named `${APP}` must have no `name`, or `name: \$\{APP\}`.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [kustomize: patches](https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/patches/)
    "unmatched-patch", Warning, "the target of a patch matches no object", Check::Build,
}
