use crate::base::finding::{Finding, Label};
use crate::flux::{Applied, ApplierKind, State};
use crate::lint::context::Context;
use crate::lint::facts::ownership_settings::{OwnershipSettings, prunes};
use crate::lint::findings::Findings;
use crate::lint::namespace_change::NamespaceChange;
use crate::lint::rule::{Check, declare};
use crate::text::{Span, folder_of};

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
    /// If `namespace` of a kustomization or `targetNamespace` renames another Namespace to `default`, the rule reports the
    /// renaming: the cluster does not receive the other Namespace.
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
    // A Kustomization that does not build applies and prunes nothing.
    if !prunes(by) || by.state == State::Failed || OwnershipSettings::read(object, by.kind).is_not_pruned {
        return;
    }
    if let Some(change) = NamespaceChange::of(applied, "name").filter(renames_by_mistake) {
        found.push(of_renamed(applied, &change));
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

/// Returns whether the name of a Namespace is not a placeholder, as in a component that several kustomizations use.
fn renames_by_mistake(change: &NamespaceChange<'_>) -> bool {
    let own = change.written.text().trim_matches(['"', '\'']);
    let is_name = own.starts_with(|first: char| first.is_ascii_alphanumeric()) && own != "not-used";
    let folder = |span: &Span| folder_of(span.file().path()).to_owned();
    is_name && (change.field == "targetNamespace" || folder(change.place) == folder(change.written))
}

/// The finding of a Namespace that a kustomization or an applier renames.
fn of_renamed(applied: &Applied<'_>, change: &NamespaceChange<'_>) -> Finding {
    let Applied { object, by, .. } = applied;
    let NamespaceChange { field, of, place, written } = change;
    let (name, own) = (object.name(), written.text().trim_matches(['"', '\'']));
    let message = format!(
        "`{field}: {name}` of {of} renames Namespace `{own}`, so the cluster does not receive it, and {} prunes \
         Namespace `{name}`",
        by.reference
    );
    let help = format!("apply the Namespace without `{field}`, or remove it");
    Finding::warning(RULE.id, Label::new((*written).clone(), "renamed"), message)
        .help(help)
        .related(by.place(place), "by this namespace")
        .about(object.reference())
        .caused_by(format!("{of} {name}"), "", format!(" Namespaces are renamed by `{field}: {name}` of {of}"))
}
