use crate::base::finding::Safety;
use crate::flux::{Applied, is_kustomization};
use crate::lint::context::Context;
use crate::lint::fields::flag;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, pedantic};
use crate::yaml::fix;

declare! {
    /// A Kustomization sets `prune: false`.
    ///
    /// ## Why
    ///
    /// Objects that are removed from the repository stay on the cluster. A renamed Deployment runs twice, a removed
    /// RoleBinding still grants permissions, and no tool lists such objects. Clusters that are created at different
    /// times have different objects.
    ///
    /// `prune` is a required field, so `false` is a deliberate setting. It can protect CRDs, namespaces and volumes.
    /// Therefore, the severity is pedantic.
    ///
    /// To keep a single object, annotate it with `kustomize.toolkit.fluxcd.io/prune: disabled`.
    ///
    /// ## How to fix it
    ///
    /// Set `spec.prune: true`, and annotate the objects that must not be deleted.
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
    ///   prune: false
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
    /// [Flux: prune](https://fluxcd.io/flux/components/kustomize/kustomizations/#prune)
    "missing-prune", Pedantic, "a Kustomization does not delete objects that are removed from its source", Check::Object(check),
    fixes: [Unsafe],
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    if !is_kustomization(object) || applied.completion.mentions("prune") {
        return;
    }
    let Some(prune) = object.node.at_keys(&["spec", "prune"]).filter(|prune| flag(prune) == Some(false)) else {
        return;
    };
    let message = format!("{} does not prune objects that are removed from its source", object.reference());
    let help =
        "set `prune: true`, and annotate the objects that must stay with `kustomize.toolkit.fluxcd.io/prune: disabled`";
    let finding = pedantic(RULE.id, prune.span().clone(), message).help(help).about(object.reference());
    let finding = finding.fixed_by(fix::replace(prune, "true", Safety::Unsafe));
    found.push(finding.caused_by("", "", " Kustomizations do not prune objects that are removed from their sources"));
}
