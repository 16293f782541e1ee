use crate::base::finding::{Finding, Label, Part, Severity};
use crate::flux::{Applied, ApplierKind, ApplyMode};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::Entry;

/// The maximum number of further objects that a finding shows.
const MAX_SHOWN: usize = 5;

declare! {
    /// No manifest sets the namespace of an object.
    ///
    /// ## Why
    ///
    /// If neither the object, nor its kustomization.yaml, nor `spec.targetNamespace` of the Kustomization sets a
    /// namespace, Flux fails with `namespace not specified` and does not apply the Kustomization. `kubectl` uses the
    /// namespace `default`, which hides the fault in tests.
    ///
    /// The rule ignores objects that set `default`, cluster-scoped kinds, and kinds with an unknown scope, which are
    /// custom resources whose CRD the cluster does not receive. It does not run in a repository without a root,
    /// because the user who applies the repository may set the namespace. The severity is warning in a suspended
    /// Kustomization.
    ///
    /// ## How to fix it
    ///
    /// Set `namespace` in the kustomization.yaml, `spec.targetNamespace` in the Kustomization, or `metadata.namespace`
    /// in the object. If `default` is intended, set `default`.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: target namespace](https://fluxcd.io/flux/components/kustomize/kustomizations/#target-namespace);
    /// `namespace not specified` in [fluxcd/pkg](https://github.com/fluxcd/pkg/blob/main/ssa/errors/errors.go)
    "default-namespace", Error, "no manifest sets the namespace of an object",
    Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    if view.is_whole() {
        for mut objects in view.without_namespace() {
            objects.retain(|applied| applied.apply_mode() != ApplyMode::Ignored);
            found.extend(finding(view, &objects));
        }
    }
}

/// Returns one finding for all objects of an applier, because one field fixes all of them.
fn finding(view: &View<'_>, objects: &[Applied<'_>]) -> Option<Finding> {
    let (first, rest) = objects.split_first()?;
    let object = first.object;
    let place = |applied: &Applied<'_>| {
        let object = applied.object;
        applied.by.place(&object.node.entry("metadata").map_or_else(|| object.span().clone(), Entry::key_span))
    };
    let others = match rest.len() {
        0 => String::new(),
        1 => " and another object".to_owned(),
        more => format!(" and {more} other objects"),
    };
    let verb = if rest.is_empty() { "has" } else { "have" };
    let message = format!("{}{others} of {} {verb} no namespace", object.reference(), first.by.reference);
    let where_to = match first.by.kind {
        ApplierKind::ResourceSet => "set `metadata.namespace` in the ResourceSet's template",
        _ => "set `namespace` in the kustomization.yaml or `spec.targetNamespace` in the Kustomization",
    };
    // kubectl uses the namespace of the Pod.
    let uses_kubectl = view.uses_kubectl();
    let effect = if uses_kubectl {
        "Flux applies the object to its own namespace, and fails with `namespace not specified` from version 0.18 on"
    } else {
        "Flux fails with `namespace not specified`"
    };
    let help = format!("{where_to}: without a namespace, {effect}");
    let label = Label::new(place(first), "no `namespace` here");
    let is_applied = uses_kubectl || first.by.is_suspended();
    let severity = if is_applied { Severity::Warning } else { Severity::Error };
    let finding = Finding { severity, ..Finding::error(RULE.id, label, message).help(help).about(object.reference()) };
    let part = |applied: &Applied<'_>| Part {
        span: place(applied),
        object: Some(applied.object.reference()),
        fault: first.by.reference.to_string(),
    };
    // Several appliers may apply one file.
    let at = place(first);
    let key = format!("{}:{}", at.file().path(), at.range().start);
    let summary = format!(" appliers apply {} without a namespace", object.reference());
    let finding = finding.with_parts(objects.iter().map(part)).caused_by(key, "", summary);
    let shown = rest.iter().take(MAX_SHOWN);
    Some(shown.fold(finding, |finding, applied| {
        finding.related(applied.by.place(applied.object.span()), "also without a namespace")
    }))
}
