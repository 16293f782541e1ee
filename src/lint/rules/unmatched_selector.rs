use std::cell::LazyCell;
use std::collections::BTreeSet;

use crate::base::finding::Finding;
use crate::flux::{Applied, ApplyMode, is_flux};
use crate::kube::{ObjectId, groups};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::yaml::Node;

declare! {
    /// A Service, a NetworkPolicy or a PodDisruptionBudget selects no pod of its namespace.
    ///
    /// ## Why
    ///
    /// The API server accepts any selector. A Service that selects no pod has no endpoints, a NetworkPolicy that selects no
    /// pod permits all traffic, and a PodDisruptionBudget that selects no pod protects nothing. The usual cause is a file that
    /// was copied from another application.
    ///
    /// The rule reports a selector only if a workload of the namespace has the same labels with other values, and if the cluster
    /// receives all pods of the namespace. It ignores namespaces into which a chart, a source without a copy, Argo CD or the
    /// operator of a custom resource may install pods, and labels that the cluster sets.
    ///
    /// ## How to fix it
    ///
    /// Write the labels of the pods in the selector.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Service
    /// metadata:
    ///   name: web
    ///   namespace: web
    /// spec:
    ///   selector:
    ///     app: shop
    ///   ports:
    ///     - port: 80
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    ///   namespace: web
    /// spec:
    ///   selector:
    ///     matchLabels:
    ///       app: web
    ///   template:
    ///     metadata:
    ///       labels:
    ///         app: web
    ///     spec:
    ///       containers:
    ///         - name: web
    ///           image: ghcr.io/example/web:1.0.0
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Service
    /// metadata:
    ///   name: web
    ///   namespace: web
    /// spec:
    ///   selector:
    ///     app: web
    ///   ports:
    ///     - port: 80
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    ///   namespace: web
    /// spec:
    ///   selector:
    ///     matchLabels:
    ///       app: web
    ///   template:
    ///     metadata:
    ///       labels:
    ///         app: web
    ///     spec:
    ///       containers:
    ///         - name: web
    ///           image: ghcr.io/example/web:1.0.0
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Kubernetes: labels and selectors](https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/),
    /// [network policies](https://kubernetes.io/docs/concepts/services-networking/network-policies/)
    "unmatched-selector", Warning, "a Service, a NetworkPolicy or a PodDisruptionBudget selects no pod",
    Check::Cluster(check),
}

/// The kinds with selectors, with the path of the selector and the consequence of one that selects no pod.
const SELECTORS: [(&str, &str, &[&str], &str); 3] = [
    ("", "Service", &["spec", "selector"], "the Service has no endpoints"),
    ("networking.k8s.io", "NetworkPolicy", &["spec", "podSelector"], "the policy applies to no pod"),
    ("policy", "PodDisruptionBudget", &["spec", "selector"], "the budget protects no pod"),
];

/// The maximum number of selectors for which other makers of pods are searched.
const MAX_SEARCHES: usize = 200;

/// The label of the product to which an object belongs.
const PART_OF: &str = "app.kubernetes.io/part-of";

/// The ends of the API groups of custom resources for which no operator creates pods.
const WITHOUT_PODS: [&str; 11] = [
    "bitnami.com",
    "cert-manager.io",
    "cilium.io",
    "external-secrets.io",
    "gateway.networking.k8s.io",
    "istio.io",
    "kyverno.io",
    "projectcontour.io",
    "snapshot.storage.k8s.io",
    "traefik.containo.us",
    "traefik.io",
];

fn check(view: &View<'_>, found: &mut Findings) {
    if !view.is_whole() || view.receiver.target.is_some() {
        return;
    }
    let others = LazyCell::new(|| namespaces_of_others(view));
    let mut searches = 0;
    for (group, kind, path, consequence) in SELECTORS {
        for applied in view.of_kind(group, kind).filter(|applied| applied.apply_mode() == ApplyMode::Applied) {
            // Flux writes this policy, even without notification-controller.
            if applied.object.label(PART_OF) == Some("flux") {
                continue;
            }
            let Some((namespace, selector)) = selected_labels(&applied, path) else { continue };
            let pods = view.pod_labels();
            if pods.is_open(namespace) || pods.selected(namespace, selector).is_none_or(|pods| !pods.is_empty()) {
                continue;
            }
            let Some(other) = pods.with_keys(namespace, selector) else { continue };
            searches += 1;
            let has_others = searches > MAX_SEARCHES
                || others.contains(namespace)
                || may_have_other_pods(view, namespace, applied.object.name());
            if has_others {
                found.unchecked(format!("the pods of {}, which other programs may create", applied.object.reference()));
                continue;
            }
            let by = applied.object.reference();
            let labels = |values: &Node| {
                let labels = selector.entries().iter().map(|entry| {
                    let value = values.get(&entry.key).and_then(Node::text).unwrap_or_default();
                    format!("`{}: {value}`", entry.key)
                });
                labels.collect::<Vec<String>>().join(", ")
            };
            let (wanted, has) = (labels(selector), labels(other.labels));
            let message = format!("{by} selects pods with {wanted}, but no pod of its namespace has these labels");
            let help = format!("correct the selector, or remove the {kind}: {consequence}");
            let finding = Finding::warning(RULE.id, applied.by.place(selector.span()), message).help(help).about(by);
            let place = other.workload.by.place(other.labels.span());
            found.push(finding.related(place, format!("{} has {has}", other.workload.object.reference())));
        }
    }
}

/// The namespace and the labels that an object selects, if it selects pods by labels only.
fn selected_labels<'a>(applied: &Applied<'a>, path: &[&str]) -> Option<(&'a str, &'a Node)> {
    let selector = applied.object.node.at_keys(path)?;
    let labels = match applied.object.kind() {
        "Service" => selector,
        _ if selector.get("matchExpressions").is_some_and(|list| !list.items().is_empty()) => return None,
        _ => selector.get("matchLabels")?,
    };
    Some((applied.namespace()?, labels)).filter(|(_, labels)| !labels.entries().is_empty())
}

/// The namespaces with releases, and with custom resources whose operators may create pods.
fn namespaces_of_others<'a>(view: &View<'a>) -> BTreeSet<&'a str> {
    let is_of_operator = |applied: &Applied<'_>| {
        let group = applied.object.group();
        let is_built_in = !group.contains('.') || group.ends_with(".k8s.io") && group != "kafka.strimzi.k8s.io";
        let is_passive = || WITHOUT_PODS.iter().any(|end| group.ends_with(end));
        let is_monitor = || {
            let kind = applied.object.kind();
            group == "monitoring.coreos.com" && (kind.ends_with("Monitor") || kind == "PrometheusRule")
        };
        !is_built_in && !is_flux(applied.object) && !is_passive() && !is_monitor()
    };
    let objects = view.namespaced_objects().filter(|(_, applied)| is_of_operator(applied));
    let releases = view.of_kind(groups::HELM, "HelmRelease").filter_map(|release| release.namespace());
    objects.map(|(namespace, _)| namespace).chain(releases).collect()
}

/// Returns whether a chart, a source without a copy or another program may create pods in a namespace.
fn may_have_other_pods(view: &View<'_>, namespace: &str, name: &str) -> bool {
    let workload = ObjectId { group: "apps", kind: "Deployment", namespace, name };
    view.unknown_sources().of(workload).next().is_some()
        || view.maker_in_namespace(workload).is_some()
        || view.argo_of(namespace).is_some()
}
