use crate::lint::rule::{Check, declare};

declare! {
    /// A directory with a kustomization.yaml does not build.
    ///
    /// ## Why
    ///
    /// Flux does not apply a directory that kustomize rejects, or a directory that includes it. Typical errors are a
    /// patch without a target, a duplicate object, directories that include each other, an unknown field, and an empty
    /// kustomization.yaml.
    ///
    /// The linter's build omits remote files without a local copy, encrypted files, and Helm charts. The linter does
    /// not report missing objects that these inputs may contain. `--verbose` shows the number of omissions.
    ///
    /// Flux removes unknown fields from the kustomization of its path and builds without them. Such a field is a warning.
    /// kustomize ignores all documents of a kustomization file except the first. Such a document is a warning too.
    ///
    /// A kustomization with Helm charts is a warning if a script or a CI job of the repository writes the output of
    /// `kustomize build --enable-helm` to files, since Flux may read these files.
    ///
    /// ## How to fix it
    ///
    /// Correct the line that the message shows.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources: []
    /// patches:
    ///   - patch: |
    ///       apiVersion: apps/v1
    ///       kind: Deployment
    ///       metadata:
    ///         name: web
    ///       spec:
    ///         replicas: 2
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources: []
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. The build is equal to the build of kustomize 5.8, which Flux 2.8 and 2.9 contain.
    /// Older versions differ in details.
    ///
    /// ## Source
    ///
    /// [kustomize: patches](https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/patches/)
    "failed-build", Error, "a directory with a kustomization.yaml does not build", Check::Build,
    fixes: [Unsafe],
}
