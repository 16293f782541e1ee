use crate::lint::rule::{Check, declare};

declare! {
    /// A manifest is not valid YAML.
    ///
    /// ## Why
    ///
    /// Flux and kustomize reject the whole file and its directory. Flux does not apply any object below that path, even
    /// for a small mistake. Clusters keep their current objects, so the error becomes visible only when the next change
    /// does not arrive.
    ///
    /// The rule checks files that are manifests or look like manifests: kustomization files, the files that they
    /// reference, and files with `apiVersion` and `kind` at the top level. It ignores templates of Helm charts, files
    /// of other programs, and files that `.sourceignore` excludes and no build reads. It also ignores files that no
    /// cluster builds if the name of the file or a directory contains the word `template`. The severity is warning for
    /// other files that no cluster builds. In a repository without a cluster, the files that a kustomization.yaml lists
    /// count as built. A YAML file that is too large or too nested to be read is always reported.
    ///
    /// ## How to fix it
    ///
    /// Correct the reported place. Indent with spaces, close every quote, and quote values that contain `: ` or start
    /// with one of `@ % & * ! { [`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    /// data:
    ///   greeting: "hello
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    /// data:
    ///   greeting: "hello"
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [YAML 1.2](https://yaml.org/spec/1.2.2/)
    "invalid-yaml", Error, "a manifest is not valid YAML", Check::Document,
}
