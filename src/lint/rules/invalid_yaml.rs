use crate::lint::rule::{Check, declare};

declare! {
    /// A manifest is no YAML that a reader could read.
    ///
    /// ## Why
    ///
    /// Flux and kustomize refuse the whole file, and with it the folder: nothing below that path is applied any more,
    /// however small the mistake. Clusters keep what they have, so the fault shows only when the next change does not
    /// arrive.
    ///
    /// Judged are files that are manifests or claim to be: a kustomization file, what one names, and files that say
    /// `apiVersion` and `kind` at their top. Templates of Helm charts and the files of other programs are not.
    ///
    /// ## How to fix it
    ///
    /// Correct the place that is named. Indent with spaces, quote values that hold `: ` or start with one of
    /// `@ % & * ! { [`, close every quote.
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
    /// ## Source
    ///
    /// [YAML 1.2](https://yaml.org/spec/1.2.2/)
    "invalid-yaml", Error, "a manifest is no YAML that can be read", Check::Document,
}
