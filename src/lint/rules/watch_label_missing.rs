use crate::base::finding::Safety;
use crate::yaml::fix;
use std::collections::BTreeSet;

use crate::kube::groups;
use crate::lint::fields::mentions;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, pedantic};
use crate::lint::view::View;
use crate::yaml::Node;

declare! {
    /// A ConfigMap or Secret with values does not have the label that enables a watch by Flux.
    ///
    /// ## Why
    ///
    /// Flux reads the objects of `valuesFrom` and `substituteFrom` when it reconciles the object that references them.
    /// A changed value takes effect only after the interval, or with the next change of the referencing object.
    ///
    /// The rule does not run if the controllers have `--watch-configs-label-selector`, which selects the watched
    /// objects.
    ///
    /// ## How to fix it
    ///
    /// Set the label `reconcile.fluxcd.io/watch: Enabled` on the object.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: cache-values
    ///   namespace: shop
    /// data:
    ///   values.yaml: |
    ///     replicas: 2
    /// ---
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: cache
    ///   namespace: shop
    /// spec:
    ///   chartRef:
    ///     kind: OCIRepository
    ///     name: cache
    ///   interval: 1h
    ///   valuesFrom:
    ///     - kind: ConfigMap
    ///       name: cache-values
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: cache-values
    ///   namespace: shop
    ///   labels:
    ///     reconcile.fluxcd.io/watch: Enabled
    /// data:
    ///   values.yaml: |
    ///     replicas: 2
    /// ---
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: cache
    ///   namespace: shop
    /// spec:
    ///   chartRef:
    ///     kind: OCIRepository
    ///     name: cache
    ///   interval: 1h
    ///   valuesFrom:
    ///     - kind: ConfigMap
    ///       name: cache-values
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.7, until now. Older versions do not watch ConfigMaps and Secrets.
    ///
    /// ## Source
    ///
    /// [Flux: react immediately to configuration dependencies](https://fluxcd.io/flux/components/helm/helmreleases/#values-references)
    "watch-label-missing", Pedantic, "a change of values does not take effect immediately", Check::Cluster(check),
    fixes: [Safe],
}

/// The label that enables a watch, and its value.
const WATCH: (&str, &str) = ("reconcile.fluxcd.io/watch", "Enabled");

/// The argument that selects the watched objects of the controllers.
const SELECTOR: &str = "--watch-configs-label-selector";

/// The first release of Flux that watches ConfigMaps and Secrets with the label.
const SINCE: (u64, u64) = (2, 7);

fn check(view: &View<'_>, found: &mut Findings) {
    if view.has_flux(SINCE) == Some(false) {
        return;
    }
    let mut watches_others = None;
    let mut seen: BTreeSet<(&str, &str, &str)> = BTreeSet::new();
    let kustomizations = view.of_kind(groups::KUSTOMIZE, "Kustomization");
    let releases = view.of_kind(groups::HELM, "HelmRelease");
    for applied in kustomizations.chain(releases) {
        let Some(namespace) = applied.namespace() else { continue };
        let spec = |keys: &[&str]| applied.object.node.at_keys(keys).map(Node::items).unwrap_or_default();
        let items = spec(&["spec", "postBuild", "substituteFrom"]).iter().chain(spec(&["spec", "valuesFrom"]));
        for item in items {
            let text = |key: &str| item.get(key).and_then(Node::text);
            let (Some(kind), Some(name)) = (text("kind"), text("name")) else { continue };
            if !seen.insert((kind, namespace, name)) {
                continue;
            }
            let Some(values) = view.find("", kind, namespace, name).filter(|_| !is_hashed(name)) else { continue };
            if values.object.label(WATCH.0).is_some_and(|value| value == WATCH.1 || value.contains('$')) {
                continue;
            }
            if *watches_others.get_or_insert_with(|| selects_others(view)) {
                return;
            }
            let (object, by) = (values.object.reference(), applied.object.reference());
            let message = format!("Flux does not watch {object} for {by}");
            let help = format!(
                "set the label `{}: {}`: without it, a change takes effect at the next interval",
                WATCH.0, WATCH.1
            );
            let metadata = values.object.node.get("metadata");
            let line = format!("{}: {}", WATCH.0, WATCH.1);
            let fix = match metadata.and_then(|metadata| metadata.get("labels")) {
                Some(labels) if labels.get(WATCH.0).is_none() => fix::add(labels, &[], &[&line], Safety::Safe),
                Some(_) => None,
                None => metadata.and_then(|metadata| {
                    fix::add(metadata, &["name", "namespace"], &["labels:", &format!("  {line}")], Safety::Safe)
                }),
            };
            let finding = pedantic(RULE.id, values.object.span().clone(), message).help(help).about(object);
            let finding = finding.fixed_at(fix, |span| values.by.place(span));
            let summary =
                " ConfigMaps and Secrets of Kustomizations and HelmReleases have no label with which Flux watches them";
            let finding = finding.caused_by("watch", "", summary);
            found.push(finding.related(item.span().clone(), "the reference is here"));
        }
    }
}

/// Returns whether the controllers of a cluster select the watched objects with another label selector.
fn selects_others(view: &View<'_>) -> bool {
    let is_controller = |name: &str| matches!(name, "kustomize-controller" | "helm-controller");
    let controllers = view.of_kind("apps", "Deployment").filter(|applied| is_controller(applied.object.name()));
    let instances = view.of_kind(groups::FLUX_OPERATOR, "FluxInstance");
    controllers.chain(instances).any(|applied| mentions(&applied.object.node, SELECTOR))
}

/// Returns whether a name ends with the hash of a generator.
///
/// A change of the values changes this name, and therefore the object that references it. An unknown hash consists of
/// `x`.
///
/// Source: the characters that kustomize uses for hashes.
fn is_hashed(name: &str) -> bool {
    let hash = name.rsplit_once('-').map_or("", |(_, hash)| hash);
    let is_hash = hash.chars().all(|c| "2456789bcdfghkmt".contains(c));
    hash.len() == 10 && (is_hash || hash.chars().all(|c| c == 'x'))
}
