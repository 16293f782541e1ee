use crate::lint::rule::{Check, declare};

declare! {
    /// A kustomization.yaml names a file or folder that is not there, or names one twice.
    ///
    /// ## Why
    ///
    /// kustomize refuses to build the folder, so Flux applies nothing of it, nor of any folder that includes it. It
    /// mostly comes from a file that was renamed or removed without its line.
    ///
    /// ## How to fix it
    ///
    /// Correct the path, or remove the line, be it the second one for the same file. `gotk-components.yaml` is not missed: `flux bootstrap` writes it.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources:
    ///   - deploiment.yaml
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
    /// [kustomize: resources](https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/resource/)
    "missing-resource", Error, "a kustomization names a file or folder that is not there, or one twice", Check::Build,
}
