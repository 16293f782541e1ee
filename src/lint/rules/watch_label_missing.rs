use std::collections::BTreeSet;

use crate::kube::groups;
use crate::lint::fields::mentions;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, pedantic};
use crate::lint::view::View;
use crate::yaml::Node;

declare! {
    /// A ConfigMap or Secret that values or variables come from has no label by which Flux watches it.
    ///
    /// ## Why
    ///
    /// Flux looks at the objects of `valuesFrom` and `substituteFrom` when it reconciles whoever refers to them. A changed value
    /// waits for the interval, or for the next change of something else, and then arrives together with it.
    ///
    /// Silent where the controllers' `--watch-configs-label-selector` says which objects they watch.
    ///
    /// ## How to fix it
    ///
    /// Label the object `reconcile.fluxcd.io/watch: Enabled`.
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
    /// ## Source
    ///
    /// [Flux: react immediately to configuration dependencies](https://fluxcd.io/flux/components/helm/helmreleases/#values-references)
    "watch-label-missing", Pedantic, "a change of values is not noticed at once", Check::Cluster(check),
}

/// The label, and the value that switches it on.
const WATCH: (&str, &str) = ("reconcile.fluxcd.io/watch", "Enabled");

/// The argument by which the controllers watch others.
const SELECTOR: &str = "--watch-configs-label-selector";

fn check(view: &View<'_>, found: &mut Findings) {
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
            let message = format!("{object} is not watched for {by}");
            let help = format!("label it `{}: {}`, or a change waits for the next interval", WATCH.0, WATCH.1);
            let finding = pedantic(RULE.id, values.object.span().clone(), message).help(help).about(object);
            found.push(finding.related(item.span().clone(), "values come from it here"));
        }
    }
}

/// Tells whether the controllers of a cluster watch what other labels say: all that no release of Helm owns, say.
fn selects_others(view: &View<'_>) -> bool {
    let is_controller = |name: &str| matches!(name, "kustomize-controller" | "helm-controller");
    let controllers = view.of_kind("apps", "Deployment").filter(|applied| is_controller(applied.object.name()));
    let instances = view.of_kind(groups::FLUX_OPERATOR, "FluxInstance");
    controllers.chain(instances).any(|applied| mentions(&applied.object.node, SELECTOR))
}

/// Whether a name ends with the hash of a generator: other values have another name, which their reader notices by
/// itself. A hash that is not known is written as `x`.
///
/// Source: the letters that kustomize writes hashes with.
fn is_hashed(name: &str) -> bool {
    let hash = name.rsplit_once('-').map_or("", |(_, hash)| hash);
    let is_hash = hash.chars().all(|each| "2456789bcdfghkmt".contains(each));
    hash.len() == 10 && (is_hash || hash.chars().all(|each| each == 'x'))
}
