use crate::lint::rule::{Check, declare};

declare! {
    /// A folder with a kustomization.yaml does not build.
    ///
    /// ## Why
    ///
    /// Flux applies nothing of a folder that kustomize refuses, nor of any folder that includes it: a patch for an
    /// object that is not there, an object that comes twice, folders that include each other, a field that kustomize
    /// does not know, a kustomization that says nothing.
    ///
    /// What this build does not carry out yet (generators, replacements and others, which are counted) may make
    /// objects and fields, so where one is used, nothing is called missing.
    ///
    /// ## How to fix it
    ///
    /// See the message: it names the line that kustomize stops at.
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
    /// ## Source
    ///
    /// [kustomize: patches](https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/patches/)
    "failed-build", Error, "a folder with a kustomization does not build", Check::Build,
}
