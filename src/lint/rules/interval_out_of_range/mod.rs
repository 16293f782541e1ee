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
    /// An interval is below a minute, or a Kustomization starts over before it may have ended.
    ///
    /// ## Why
    ///
    /// Each interval asks a server: the Git host, the registry, the API server. Below a minute a few clusters are enough to be
    /// throttled by a Git host, and nothing arrives any more. A Receiver makes a push arrive at once, whatever the interval.
    ///
    /// A Kustomization whose `interval` is shorter than its `timeout` may be due again while it still waits for its objects.
    /// Without `timeout` the interval itself is the limit, which is never out of range.
    ///
    /// ## How to fix it
    ///
    /// Take a minute or more for sources, ten for Kustomizations, and a Receiver for speed; keep `timeout` below `interval`.
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
    "interval-out-of-range", Warning, "an interval is too short for what it asks of others", Check::Object(check),
}

/// What is asked more often than this is throttled sooner or later.
const SHORTEST: Duration = Duration::from_mins(1);

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    let is_kustomization = is_kustomization(object);
    let is_judged = is_kustomization || object.group() == groups::SOURCE || is_repository_of_images(object);
    // Nobody is asked for one of OCI: whoever takes a chart of it asks.
    let is_asked = object.kind() != "HelmRepository" || object.text_at(&["spec", "type"]) != Some("oci");
    if !is_judged || !is_asked || applied.completion.mentions("interval") {
        return;
    }
    let said = |field: &str| object.node.at_keys(&["spec", field]).filter(|node| !node.is_null());
    let Some(interval) = said("interval") else { return };
    let (Some(text), Some(length)) = (interval.text(), go_duration(interval)) else { return };
    if length < SHORTEST {
        let message = format!("{} has an interval of `{text}`, which is below a minute", object.reference());
        let help = if is_kustomization {
            "take a minute or more: all of it is built and compared with the cluster each time; a change of its source \
             arrives at once whatever the interval is"
        } else {
            "take a minute or more: servers throttle clients that ask too often; a Receiver makes pushes arrive at once"
        };
        let finding = Finding::warning(RULE.id, interval.span().clone(), message);
        found.push(finding.help(help).about(object.reference()));
        return;
    }
    let Some(timeout) = said("timeout").filter(|_| is_kustomization) else { return };
    if go_duration(timeout).is_some_and(|longest| length < longest) {
        let limit = timeout.text().unwrap_or_default();
        let message = format!("{} has an interval of `{text}`, shorter than its timeout `{limit}`", object.reference());
        let finding = Finding::warning(RULE.id, interval.span().clone(), message)
            .related(timeout.span().clone(), "it may take this long")
            .help("make the interval longer than the timeout, or it is due again while it still waits")
            .about(object.reference());
        found.push(finding);
    }
}

fn is_repository_of_images(object: &Object) -> bool {
    object.is(groups::IMAGE, "ImageRepository")
}
