use crate::base::finding::Safety;
use crate::flux::{Applied, ApplierKind, is_kustomization, is_of_bootstrap};
use crate::lint::context::Context;
use crate::lint::fields::flag;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, missing_in_spec, pedantic};
use crate::yaml::fix;

declare! {
    /// A Kustomization has neither `timeout` nor `wait`.
    ///
    /// ## Why
    ///
    /// Without `timeout`, the timeout of a Kustomization is its interval, which is often an hour. If an API server or a
    /// webhook does not answer, the Kustomization occupies a worker of kustomize-controller for that time. Flux reports
    /// the failure only after that time. Without `wait`, a Kustomization is ready as soon as Flux has applied its
    /// objects, even if no pod runs.
    ///
    /// The rule ignores the Kustomization that `flux bootstrap` or a FluxInstance creates for the root of the cluster.
    ///
    /// ## How to fix it
    ///
    /// Set `spec.timeout` to the duration of a healthy rollout. Also set `spec.wait: true` if other objects depend on
    /// the Kustomization.
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
    ///   timeout: 5m
    ///   wait: true
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
    /// [Flux: timeout](https://fluxcd.io/flux/components/kustomize/kustomizations/#timeout)
    "missing-timeout", Pedantic, "a Kustomization sets neither `timeout` nor `wait`", Check::Object(check),
    fixes: [Unsafe],
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let has = |field: &str| object.node.at_keys(&["spec", field]).is_some_and(|node| !node.is_null());
    // Flux and Flux Operator create the Kustomization of the cluster's root, and a FluxInstance does not have a field
    // for a timeout.
    let is_generated = || is_of_bootstrap(object) || applied.by.kind == ApplierKind::FluxInstance;
    // A parent may complete an object without a source.
    if !is_kustomization(object) || !has("sourceRef") || is_generated() {
        return;
    }
    let wait = object.node.at_keys(&["spec", "wait"]).filter(|wait| !wait.is_null());
    let waits = wait.is_some_and(|wait| flag(wait) != Some(false));
    if waits || has("timeout") || ["timeout", "wait"].iter().any(|field| applied.completion.mentions(field)) {
        return;
    }
    let message = match wait {
        Some(_) => format!("{} has no `spec.timeout`, and sets `wait: false`", object.reference()),
        None => format!("{} has neither `spec.timeout` nor `spec.wait`", object.reference()),
    };
    let help = "set `spec.timeout`: without it, Flux reports a failure only after the interval";
    let finding = pedantic(RULE.id, missing_in_spec(object, "timeout"), message).help(help);
    let spec = object.node.get("spec").filter(|spec| spec.get("timeout").is_none());
    let fix = spec.and_then(|spec| fix::add(spec, &["interval", "retryInterval"], &["timeout: 5m"], Safety::Unsafe));
    let summary = match wait {
        Some(_) => " Kustomizations have no `spec.timeout`, and set `wait: false`",
        None => " Kustomizations have neither `spec.timeout` nor `spec.wait`",
    };
    let finding = finding.fixed_by(fix).caused_by(summary, "", summary);
    found.push(finding.related(object.span().clone(), "this Kustomization").about(object.reference()));
}
