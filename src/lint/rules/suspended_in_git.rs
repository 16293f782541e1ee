use crate::base::finding::{Finding, Safety, Severity};
use crate::flux::{Applied, ApplyMode};
use crate::kube::{Object, groups};
use crate::lint::context::Context;
use crate::lint::fields::flag;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::text::Span;
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
    /// If a comment beside `suspend` or a description of the object explains the suspension, the severity is pedantic.
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
        let mut finding = Finding::warning(RULE.id, place.span().clone(), message).help(help).about(reference);
        if is_explained(object, place.span()) {
            finding.severity = Severity::Pedantic;
        }
        found.push(finding.fixed_by(fix).caused_by("suspended", "", " objects are suspended"));
    } else if let Some(place) = exclusion(applied) {
        let message = format!("{reference} is excluded from reconciliation by `{EXCLUDED}: disabled`");
        let help = "remove this setting: kustomize-controller does not apply changes to the object, and does not create \
                    it on a new cluster; if Flux should only create the object, set \
                    `kustomize.toolkit.fluxcd.io/ssa: IfNotPresent`";
        let finding = Finding::warning(RULE.id, place.span().clone(), message).help(help).about(reference);
        let summary = format!(" objects are excluded from reconciliation by `{EXCLUDED}: disabled`");
        found.push(finding.caused_by("excluded", "", summary));
    }
}

/// Returns whether the author explains a setting: in a comment on its line or directly above, or in a description of the object.
fn is_explained(object: &Object, place: &Span) -> bool {
    let annotations = object.node.at_keys(&["metadata", "annotations"]).map_or(&[][..], Node::entries);
    if annotations.iter().any(|entry| entry.key.ends_with("description")) {
        return true;
    }
    let (before, after) = place.file().text().split_at_checked(place.range().end).unwrap_or_default();
    let own = after.lines().next().unwrap_or_default();
    let above = before.rsplit('\n').skip(1).take_while(|line| line.trim_start().starts_with('#'));
    std::iter::once(own).chain(above).filter_map(|line| line.split_once('#')).any(|(_, comment)| is_sentence(comment))
}

/// Returns whether a comment contains words, and not a field that is switched off.
fn is_sentence(comment: &str) -> bool {
    let words = comment.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic));
    let is_field = comment.trim().split_once(": ").is_some_and(|(key, value)| {
        key.starts_with(|c: char| c.is_ascii_lowercase()) && !key.contains(' ') && !value.trim().contains(' ')
    });
    words.count() > 1 && !is_field
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
