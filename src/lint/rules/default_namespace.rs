use crate::base::finding::{Finding, Label};
use crate::flux::{Applied, ApplierKind};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::Entry;

/// So many further objects are shown at their places.
const MAX_SHOWN: usize = 5;

declare! {
    /// Something lands in namespace `default` because nothing names one.
    ///
    /// ## Why
    ///
    /// Where neither the object, nor its kustomization, nor `spec.targetNamespace` of the Kustomization says a
    /// namespace, `kubectl` takes `default`, which nobody has in mind, and which has no quota, policy or tenant. Flux
    /// does not guess: it refuses such an object as `namespace not specified`, and with it all of its Kustomization.
    ///
    /// Silent where `default` is said, about kinds without namespace and about those of which neither we
    /// nor a CRD that the cluster receives knows whether they have one, and in repositories without a root: there, whoever applies it may say the namespace.
    ///
    /// ## How to fix it
    ///
    /// Set `namespace` in the kustomization.yaml, `spec.targetNamespace` in the Kustomization, or `metadata.namespace` in
    /// the object; if `default` is meant, say `default`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: default
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: target namespace](https://fluxcd.io/flux/components/kustomize/kustomizations/#target-namespace);
    /// `namespace not specified` in [fluxcd/pkg](https://github.com/fluxcd/pkg/blob/main/ssa/errors/errors.go)
    "default-namespace", Warning, "something lands in namespace `default` because nothing names one",
    Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    if view.is_whole() {
        found.extend(view.without_namespace().filter_map(|objects| finding(&objects)));
    }
}

/// One finding for what one applier brings: it is mended at one place.
fn finding(objects: &[Applied<'_>]) -> Option<Finding> {
    let (first, rest) = objects.split_first()?;
    let object = first.object;
    let place = object.node.entry("metadata").map_or_else(|| object.span().clone(), Entry::key_span);
    let others = match rest.len() {
        0 => String::new(),
        1 => " and another object".to_owned(),
        more => format!(" and {more} other objects"),
    };
    let verb = if rest.is_empty() { "names" } else { "name" };
    let message = format!("{}{others} of {} {verb} no namespace", object.reference(), first.by.reference);
    let where_to = match first.by.kind {
        ApplierKind::ResourceSet => "set `metadata.namespace` in the ResourceSet's template",
        _ => "set `namespace` in the kustomization.yaml or `spec.targetNamespace` in the Kustomization",
    };
    let help = format!("{where_to}: kubectl would take `default`, and Flux fails with `namespace not specified`");
    let label = Label::new(first.by.place(&place), "no `namespace` here");
    let finding = Finding::warning(RULE.id, label, message).help(help).about(object.reference());
    let shown = rest.iter().take(MAX_SHOWN);
    Some(shown.fold(finding, |finding, applied| {
        finding.related(applied.by.place(applied.object.span()), "no namespace either")
    }))
}
