mod go_duration;

use std::time::Duration;

use self::go_duration::go_duration;
use crate::base::finding::{Finding, Safety};
use crate::flux::{Applied, is_kustomization};
use crate::kube::{Object, groups};
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::yaml::fix;

declare! {
    /// An interval is shorter than a minute.
    ///
    /// ## Why
    ///
    /// After each interval, Flux sends requests to a server: the Git host, the registry, or the API server. With
    /// intervals below a minute, a Git host may throttle even a few clusters, so that they no longer receive changes. A
    /// Receiver delivers a push immediately, regardless of the interval.
    ///
    /// An interval below the `timeout` is valid: Flux starts the next interval at the end of a reconciliation, and
    /// never reconciles an object twice at the same time.
    ///
    /// ## How to fix it
    ///
    /// Set at least one minute for sources and ten minutes for Kustomizations, and use a Receiver for fast updates.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: recommended settings](https://fluxcd.io/flux/components/kustomize/kustomizations/#recommended-settings),
    /// [interval](https://fluxcd.io/flux/components/kustomize/kustomizations/#interval)
    "interval-out-of-range", Warning, "an interval is shorter than a minute", Check::Object(check), fixes: [Unsafe],
}

/// The shortest interval that the rule accepts, since servers may throttle clients with shorter intervals.
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
    let Some(interval) = object.node.at_keys(&["spec", "interval"]).filter(|node| !node.is_null()) else { return };
    let (Some(text), Some(length)) = (interval.text(), go_duration(interval)) else { return };
    if length >= SHORTEST {
        return;
    }
    let message = format!("{} has an interval of `{text}`, which is shorter than a minute", object.reference());
    let help = if is_kustomization {
        "set `interval` to a minute or more: after each interval, Flux builds all objects and compares them with the \
         cluster; a change of the source triggers a reconciliation regardless of the interval"
    } else {
        "set `interval` to a minute or more: servers throttle frequent clients; a Receiver delivers pushes immediately"
    };
    let finding = Finding::warning(RULE.id, interval.span().clone(), message);
    let finding = finding.help(help).about(object.reference());
    let finding = finding.fixed_by(fix::replace(interval, if is_kustomization { "10m" } else { "1m" }, Safety::Unsafe));
    let what = if is_kustomization { "Kustomizations" } else { "sources" };
    let summary = format!(" {what} have an interval of `{text}`, which is shorter than a minute");
    found.push(finding.caused_by(summary.clone(), "", summary));
}

fn is_image_repository(object: &Object) -> bool {
    object.is(groups::IMAGE, "ImageRepository")
}
