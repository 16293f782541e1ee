use crate::base::finding::{Finding, Label};
use crate::flux::{Applied, ApplierKind};
use crate::lint::context::Context;
use crate::lint::facts::ownership_settings::{OwnershipSettings, prunes};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};

declare! {
    /// Flux prunes a namespace that the API server never deletes.
    ///
    /// ## Why
    ///
    /// A Kustomization with `prune: true` contains the namespace `default`, `kube-system` or `kube-public`, for example to
    /// set a label. If a commit removes the namespace from the Kustomization, Flux tries to delete it. The API server
    /// forbids this, so the reconciliation fails. If the Kustomization itself is deleted, Flux retries the
    /// deletion of its objects indefinitely, and the Kustomization remains.
    ///
    /// ## How to fix it
    ///
    /// Annotate the namespace with `kustomize.toolkit.fluxcd.io/prune: disabled`; in a ResourceSet, with
    /// `fluxcd.controlplane.io/prune: disabled`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: kube-system
    ///   labels:
    ///     pod-security.kubernetes.io/enforce: privileged
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: kube-system
    ///   annotations:
    ///     kustomize.toolkit.fluxcd.io/prune: disabled
    ///   labels:
    ///     pod-security.kubernetes.io/enforce: privileged
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Kubernetes: the admission plugin NamespaceLifecycle](https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#namespacelifecycle),
    /// [Flux: prune](https://fluxcd.io/flux/components/kustomize/kustomizations/#prune)
    "undeletable-namespace", Warning, "Flux prunes a namespace that the API server never deletes",
    Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let Applied { object, by, .. } = applied;
    if !object.is("", "Namespace") || !matches!(object.name(), "default" | "kube-public" | "kube-system") {
        return;
    }
    if !prunes(by) || OwnershipSettings::read(object, by.kind).is_not_pruned {
        return;
    }
    let annotation = match by.kind {
        ApplierKind::ResourceSet => "fluxcd.controlplane.io/prune: disabled",
        _ => "kustomize.toolkit.fluxcd.io/prune: disabled",
    };
    let message = format!("{} prunes {}, which the API server never deletes", by.reference, object.reference());
    let help = format!(
        "annotate the namespace with `{annotation}`: otherwise, Flux fails once the namespace or the {} is removed",
        by.reference.kind
    );
    let label = Label::new(by.place(object.span()), "must stay");
    let summary = " namespaces that the API server never deletes are pruned";
    found.push(
        Finding::warning(RULE.id, label, message).help(help).about(object.reference()).caused_by("", "", summary),
    );
}
