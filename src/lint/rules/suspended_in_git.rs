use crate::base::finding::Finding;
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::fields::flag;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};

declare! {
    /// A Flux object sets `suspend: true` in the repository.
    ///
    /// ## Why
    ///
    /// Changes to the object do not reach the cluster, and Flux still reports it as ready. `suspend: true` is usually
    /// committed during an incident. `flux resume` does not help, because the next reconciliation of the parent
    /// suspends the object again.
    ///
    /// ## How to fix it
    ///
    /// Remove `suspend`. To work on the cluster, use `flux suspend` instead of a commit.
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
    /// ## Source
    ///
    /// [Flux: suspend](https://fluxcd.io/flux/components/kustomize/kustomizations/#suspend)
    "suspended-in-git", Warning, "a Flux object is suspended in the repository", Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    if !groups::is_toolkit(object.group()) || applied.completion.mentions("suspend") {
        return;
    }
    let suspend = object.node.at_keys(&["spec", "suspend"]).filter(|node| flag(node) == Some(true));
    let Some(suspend) = suspend else { return };
    let message = format!("{} is suspended", object.reference());
    let finding = Finding::warning(RULE.id, suspend.span().clone(), message)
        .help("remove `suspend`: changes do not reach the cluster, and `flux resume` is reverted by the next reconciliation")
        .about(object.reference());
    found.push(finding);
}
