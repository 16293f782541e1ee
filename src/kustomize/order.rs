//! The order of the objects of a build.

use super::definition::Definition;
use super::resources::{Id, Resources};
use crate::yaml::Node;

/// Kinds that kustomize puts first, in this order.
const FIRST: &[&str] = &[
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];

/// Kinds that kustomize puts last, in this order.
const LAST: &[&str] = &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/// Puts the objects into the order that the topmost kustomization asks for: `legacy` unless it says `fifo`.
pub(super) fn sort(resources: &mut Resources, definition: Option<&Definition>) {
    let order = definition.and_then(|definition| definition.entry("sortOptions")?.node.get("order")?.text());
    if order != Some("fifo") {
        resources.list.sort_by_cached_key(|resource| key(&resource.id, &resource.node));
    }
}

/// Kind's rank; group, version and kind as text; namespace and name as text.
fn key(id: &Id, node: &Node) -> (usize, String, String) {
    let or = |text: &str, empty: &str| if text.is_empty() { empty.to_string() } else { text.to_string() };
    let kind = format!("{}_{}_{}", or(&id.group, "~G"), or(&id.version, "~V"), or(&id.kind, "~K"));
    let namespace = node.at_keys(&["metadata", "namespace"]).and_then(Node::text).unwrap_or_default();
    (rank(&id.kind), kind, format!("{}|{}", or(namespace, "~X"), or(&id.name, "~N")))
}

/// Where a kind stands among the kinds that come first, the others, and those that come last.
pub(super) fn rank(kind: &str) -> usize {
    let position = |kinds: &[&str]| kinds.iter().position(|its| *its == kind);
    let last = position(LAST).map(|at| FIRST.len() + 1 + at);
    position(FIRST).or(last).unwrap_or(FIRST.len())
}
