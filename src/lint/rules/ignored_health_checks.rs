use crate::base::finding::Finding;
use crate::flux::{Applied, is_kustomization};
use crate::lint::context::Context;
use crate::lint::fields::flag;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::yaml::Node;

declare! {
    /// `wait: true` disables `healthChecks`.
    ///
    /// ## Why
    ///
    /// With `wait: true` Flux checks the objects that the Kustomization itself applies, and does not read
    /// `healthChecks`. It does not wait for other objects that `healthChecks` references, such as the Deployment of a
    /// chart or an object on another path.
    ///
    /// ## How to fix it
    ///
    /// Remove `healthChecks`, or remove `wait` to wait for other objects.
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
    ///   healthChecks:
    ///     - apiVersion: apps/v1
    ///       kind: Deployment
    ///       name: shop
    ///       namespace: shop
    ///   interval: 1h
    ///   path: ./shop
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   wait: true
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
    ///   wait: true
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: wait](https://fluxcd.io/flux/components/kustomize/kustomizations/#wait)
    "ignored-health-checks", Warning, "`wait: true` disables `healthChecks`", Check::Object(check),
}

fn check(applied: &Applied<'_>, _context: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    if !is_kustomization(object) || ["wait", "healthChecks"].iter().any(|field| applied.completion.mentions(field)) {
        return;
    }
    let (Some(wait), Some(checks)) = (
        object.node.at_keys(&["spec", "wait"]),
        object.node.at_keys(&["spec"]).and_then(|spec| spec.entry("healthChecks")),
    ) else {
        return;
    };
    if flag(wait) != Some(true) || !is_list(&checks.node) {
        return;
    }
    let message = format!("Flux does not read the `healthChecks` of {}", object.reference());
    let finding = Finding::warning(RULE.id, checks.key_span(), message)
        .related(wait.span().clone(), "it waits for its own objects")
        .help("remove one of them: with `wait: true` Flux checks only the objects that it applies")
        .about(object.reference());
    found.push(finding.caused_by("", "", " Kustomizations have `healthChecks` that Flux does not read"));
}

fn is_list(checks: &Node) -> bool {
    checks.is_seq() && !checks.items().is_empty()
}
