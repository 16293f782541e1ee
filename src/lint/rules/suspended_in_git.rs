use crate::base::finding::{Finding, Safety};
use crate::flux::{Applied, ApplyMode};
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::fields::flag;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::yaml::Node;
use crate::yaml::fix;

declare! {
    /// The repository suspends a Flux object, or excludes an object from reconciliation.
    ///
    /// ## Why
    ///
    /// Changes to the object do not reach the cluster, and Flux still reports it as ready. `suspend: true` is usually
    /// committed during an incident. `flux resume` does not help, because the next reconciliation of the parent
    /// suspends the object again.
    ///
    /// kustomize-controller does not apply an object with the label or annotation
    /// `kustomize.toolkit.fluxcd.io/reconcile: disabled`. kustomize-controller does not update such an object, and does
    /// not create it on a new cluster. Two annotations have the effect of `suspend`: `fluxcd.controlplane.io/reconcile:
    /// disabled` for objects of Flux Operator, and `source.extensions.fluxcd.io/reconcile: disabled` for an
    /// ArtifactGenerator.
    ///
    /// ## How to fix it
    ///
    /// Remove the field, label or annotation. To work on the cluster, use `flux suspend` or annotate the object on the
    /// cluster, without a commit.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: shop
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./shop
    ///   prune: true
    ///   suspend: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: shop
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./shop
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: suspend](https://fluxcd.io/flux/components/kustomize/kustomizations/#suspend),
    /// [Flux: the apply behavior of resources](https://fluxcd.io/flux/components/kustomize/kustomizations/#controlling-the-apply-behavior-of-resources)
    "suspended-in-git", Warning, "the repository suspends an object or excludes it from reconciliation",
    Check::Object(check), fixes: [Unsafe],
}

/// The label or annotation that excludes an object from the reconciliation by kustomize-controller.
const EXCLUDED: &str = "kustomize.toolkit.fluxcd.io/reconcile";

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let reference = object.reference();
    if let Some(place) = suspension(applied) {
        let message = format!("{reference} is suspended");
        let help = "remove this setting: changes do not reach the cluster, and the next reconciliation reverts \
                    `flux resume`";
        let spec = object.node.get("spec").filter(|spec| spec.get("suspend").is_some());
        let fix = spec.and_then(|spec| fix::remove(spec, "suspend", Safety::Unsafe));
        let finding = Finding::warning(RULE.id, place.span().clone(), message).help(help).about(reference);
        found.push(finding.fixed_by(fix).caused_by("suspended", "", " objects are suspended"));
    } else if let Some(place) = exclusion(applied) {
        let message = format!("{reference} is excluded from reconciliation by `{EXCLUDED}: disabled`");
        let help = "remove this setting: kustomize-controller does not apply changes to the object, and does not create \
                    it on a new cluster";
        let finding = Finding::warning(RULE.id, place.span().clone(), message).help(help).about(reference);
        let summary = format!(" objects are excluded from reconciliation by `{EXCLUDED}: disabled`");
        found.push(finding.caused_by("excluded", "", summary));
    }
}

/// The field or annotation that suspends a Flux object.
fn suspension<'a>(applied: &Applied<'a>) -> Option<&'a Node> {
    let object = applied.object;
    let field = match object.group() {
        group if groups::is_toolkit(group) => {
            let suspend = object.node.at_keys(&["spec", "suspend"]).filter(|node| flag(node) == Some(true));
            return suspend.filter(|_| !applied.completion.mentions("suspend"));
        }
        groups::FLUX_OPERATOR => "fluxcd.controlplane.io/reconcile",
        groups::SOURCE_EXTENSIONS => "source.extensions.fluxcd.io/reconcile",
        _ => return None,
    };
    disabled(object.node.at_keys(&["metadata", "annotations", field]))
}

/// The label or annotation that excludes an object from the reconciliation by kustomize-controller.
fn exclusion<'a>(applied: &Applied<'a>) -> Option<&'a Node> {
    if applied.apply_mode() != ApplyMode::Ignored || applied.completion.mentions(EXCLUDED) {
        return None;
    }
    ["annotations", "labels"]
        .into_iter()
        .find_map(|field| disabled(applied.object.node.at_keys(&["metadata", field, EXCLUDED])))
}

/// Returns the value if it is `disabled`. The controllers ignore the case.
fn disabled(value: Option<&Node>) -> Option<&Node> {
    value.filter(|node| node.text().is_some_and(|text| text.eq_ignore_ascii_case("disabled")))
}
