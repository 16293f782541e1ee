use crate::lint::rule::{Check, declare};

declare! {
    /// An entry of `images` does not match the image of any container.
    ///
    /// ## Why
    ///
    /// kustomize and Flux silently skip an entry of `images` if no container of the build has the image. The intended tag
    /// or registry is then not set, and an image automation updates a tag that no container uses. The usual causes are a
    /// changed image, and a HelmRelease, whose images kustomize does not know.
    ///
    /// The rule respects the field specs of `configurations`. It does not report an entry that matches on another cluster
    /// or in another build, or an entry of a Component with another entry that matches. It also does not report an
    /// entry if objects may be missing because an input is not built: a remote base, an inflated chart, or a
    /// `gotk-components.yaml` that does not exist yet. An entry for an image in a file that a comment of the same
    /// kustomization.yaml names is also ignored.
    ///
    /// ## How to fix it
    ///
    /// Correct the name, or remove the entry. The name must be the whole name of the image in the manifest, with its
    /// registry and without its tag. It is a regular expression.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # web.yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    ///   namespace: default
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///         - name: web
    ///           image: ghcr.io/example/web:1.0.0
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
    /// images:
    ///   - name: docker.io/example/web
    ///     newTag: 1.1.0
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
    ///   namespace: default
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///         - name: web
    ///           image: ghcr.io/example/web:1.0.0
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
    /// images:
    ///   - name: ghcr.io/example/web
    ///     newTag: 1.1.0
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [kustomize: images](https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/images/)
    "unmatched-image", Warning, "an entry of `images` matches no container", Check::Build,
}
