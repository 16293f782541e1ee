mod go_duration;

use std::time::Duration;

use self::go_duration::go_duration;
use crate::base::finding::Finding;
use crate::flux::{Applied, is_kustomization};
use crate::kube::{Object, groups};
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};

declare! {
    /// An interval is shorter than a minute, or shorter than the timeout of the Kustomization.
    ///
    /// ## Why
    ///
    /// Each interval sends requests to a server: the Git host, the registry, or the API server. With intervals below a
    /// minute, a few clusters are enough for a Git host to throttle them, and changes no longer arrive. A Receiver
    /// delivers a push immediately, whatever the interval.
    ///
    /// If the `interval` of a Kustomization is shorter than its `timeout`, the next reconciliation may be due while
    /// Flux still waits for the objects. Without `timeout` the interval itself is the limit, which is never out of
    /// range.
    ///
    /// ## How to fix it
    ///
    /// Set at least one minute for sources and ten minutes for Kustomizations, and use a Receiver for fast updates.
    /// Keep `timeout` below `interval`.
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
    ///   interval: 30s
    ///   path: ./shop
    ///   prune: true
    ///   timeout: 5m
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
    ///   interval: 10m
    ///   path: ./shop
    ///   prune: true
    ///   timeout: 5m
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: recommended settings](https://fluxcd.io/flux/components/kustomize/kustomizations/#recommended-settings),
    /// [interval](https://fluxcd.io/flux/components/kustomize/kustomizations/#interval)
    "interval-out-of-range", Warning, "an interval is shorter than a minute or than the timeout", Check::Object(check),
}

/// The shortest interval that servers do not throttle.
const SHORTEST: Duration = Duration::from_mins(1);

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let is_kustomization = is_kustomization(object);
    let is_judged = is_kustomization || object.group() == groups::SOURCE || is_image_repository(object);
    // Flux does not fetch an OCI HelmRepository: each HelmRelease fetches its chart.
    let is_fetched = object.kind() != "HelmRepository" || object.text_at(&["spec", "type"]) != Some("oci");
    if !is_judged || !is_fetched || applied.completion.mentions("interval") {
        return;
    }
    let field_of = |field: &str| object.node.at_keys(&["spec", field]).filter(|node| !node.is_null());
    let Some(interval) = field_of("interval") else { return };
    let (Some(text), Some(length)) = (interval.text(), go_duration(interval)) else { return };
    if length < SHORTEST {
        let message = format!("{} has an interval of `{text}`, which is shorter than a minute", object.reference());
        let help = if is_kustomization {
            "set a minute or more: each interval builds all objects and compares them with the cluster; a change of the \
             source triggers a reconciliation whatever the interval is"
        } else {
            "set a minute or more: servers throttle frequent clients; a Receiver delivers pushes immediately"
        };
        let finding = Finding::warning(RULE.id, interval.span().clone(), message);
        let finding = finding.help(help).about(object.reference());
        let summary = " objects have an interval that is shorter than a minute";
        found.push(finding.caused_by(if is_kustomization { "built" } else { "fetched" }, "", summary));
        return;
    }
    let Some(timeout) = field_of("timeout").filter(|_| is_kustomization) else { return };
    if go_duration(timeout).is_some_and(|longest| length < longest) {
        let limit = timeout.text().unwrap_or_default();
        let message = format!("{} has an interval of `{text}`, shorter than its timeout `{limit}`", object.reference());
        let finding = Finding::warning(RULE.id, interval.span().clone(), message)
            .related(timeout.span().clone(), "a reconciliation may take this long")
            .help("set an interval longer than the timeout: otherwise the next reconciliation is due while Flux still waits")
            .about(object.reference());
        found.push(finding);
    }
}

fn is_image_repository(object: &Object) -> bool {
    object.is(groups::IMAGE, "ImageRepository")
}
