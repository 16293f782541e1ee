use crate::lint::rule::{Check, declare};

declare! {
    /// A kustomization.yaml references a path that does not exist, or references the same path twice.
    ///
    /// ## Why
    ///
    /// kustomize cannot build the directory, or a directory that includes it, so Flux applies neither of them. The
    /// usual cause is a commit that renames or removes a file, but not its entry.
    ///
    /// ## How to fix it
    ///
    /// Correct the path, or remove the entry. If two entries reference the same file, remove the second one. The rule
    /// ignores a missing `gotk-components.yaml`, because `flux bootstrap` writes it, and the missing directory
    /// `flux-system` of a directory that no cluster reaches, or of a cluster without a bootstrap. In a repository without
    /// a cluster, the severity is pedantic if a `.gitignore` names the file, because another program may create it, and the
    /// rule ignores the directories that an ArtifactGenerator copies, because the artifact may contain the file.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [kustomize: resources](https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/resource/)
    "missing-resource", Error, "a kustomization.yaml references a missing path, or references the same path twice", Check::Build,
    fixes: [Unsafe],
}
