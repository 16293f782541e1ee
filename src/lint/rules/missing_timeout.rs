use crate::flux::{Applied, ApplierKind, is_kustomization, is_of_bootstrap};
use crate::lint::context::Context;
use crate::lint::fields::flag;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, missing_in_spec, pedantic};

declare! {
    /// A Kustomization has neither `timeout` nor `wait`.
    ///
    /// ## Why
    ///
    /// Without `timeout` a Kustomization may take as long as its interval, an hour for many. One that hangs, because an
    /// API server or a webhook does not answer, keeps a worker of kustomize-controller busy for so long, and its failure is
    /// told as late. Without `wait` it is ready as soon as it is applied, whether anything of it runs or not.
    ///
    /// Silent for the Kustomization that `flux bootstrap` or a FluxInstance writes for the cluster itself.
    ///
    /// ## How to fix it
    ///
    /// Set `spec.timeout` to what a healthy rollout takes, and `spec.wait: true` where others depend on it.
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
    /// ## Source
    ///
    /// [Flux: timeout](https://fluxcd.io/flux/components/kustomize/kustomizations/#timeout)
    "missing-timeout", Pedantic, "a Kustomization neither waits nor limits how long it may take", Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let said = |field: &str| object.node.at_keys(&["spec", field]).is_some_and(|node| !node.is_null());
    // Flux and its operator write the Kustomization of the cluster itself, and an instance has no field for a timeout.
    let is_given = || is_of_bootstrap(object) || applied.by.kind == ApplierKind::FluxInstance;
    // A fragment that a parent completes says less than it will.
    if !is_kustomization(object) || !said("sourceRef") || is_given() {
        return;
    }
    let wait = object.node.at_keys(&["spec", "wait"]).filter(|wait| !wait.is_null());
    let waits = wait.is_some_and(|wait| flag(wait) != Some(false));
    if waits || said("timeout") || ["timeout", "wait"].iter().any(|field| applied.completion.mentions(field)) {
        return;
    }
    let message = match wait {
        Some(_) => format!("{} has no `spec.timeout`, and does not wait", object.reference()),
        None => format!("{} has neither `spec.timeout` nor `spec.wait`", object.reference()),
    };
    let help = "set a timeout: without one it may take as long as its interval, and tells a failure as late";
    let finding = pedantic(RULE.id, missing_in_spec(object, "timeout"), message).help(help);
    found.push(finding.related(object.span().clone(), "this Kustomization").about(object.reference()));
}
