//! The order of objects in the output.

use std::collections::BTreeMap;

use super::resources::{ResourceId, Resources};
use crate::base::finding::Finding;
use crate::kustomize::file::definition::Definition;
use crate::kustomize::rule_ids::FAILED_BUILD;
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

/// Sorts the objects by `sortOptions` of the topmost kustomization.
///
/// The default `legacy` sorts by lists of kinds that come first and last. `fifo` keeps the order.
pub(crate) fn sort(resources: &mut Resources, definition: Option<&Definition>, findings: &mut Vec<Finding>) {
    let Some(options) = definition.and_then(|definition| definition.entry("sortOptions")) else {
        resources.list.sort_by_cached_key(|resource| key(&resource.id, &resource.node, rank(&resource.id.kind)));
        return;
    };
    let order = options.node.get("order").filter(|order| !order.is_null());
    let legacy = options.node.entry("legacySortOptions").filter(|entry| !entry.node.is_null());
    match (order.and_then(Node::text), legacy) {
        (Some("fifo"), None) => {}
        (Some("fifo"), Some(legacy)) => {
            let message = "`legacySortOptions` is not valid with order `fifo`; kustomize rejects it";
            findings.push(Finding::error(FAILED_BUILD, legacy.key_span(), message).help("remove one of them"));
        }
        (Some("legacy"), None) => {
            resources.list.sort_by_cached_key(|resource| key(&resource.id, &resource.node, rank(&resource.id.kind)));
        }
        (Some("legacy"), Some(legacy)) => {
            let ranks = ranks(&legacy.node);
            let rank = |kind: &str| ranks.get(kind).copied().unwrap_or(0);
            resources.list.sort_by_cached_key(|resource| key(&resource.id, &resource.node, rank(&resource.id.kind)));
        }
        (other, _) => {
            let message = match other {
                Some(other) => format!("`{other}` is not a valid order; use `legacy` or `fifo`"),
                None => "`sortOptions` has no `order`; set it to `legacy` or `fifo`".to_string(),
            };
            let span = order.map_or_else(|| options.key_span(), |order| order.span().clone());
            findings.push(Finding::error(FAILED_BUILD, span, message));
        }
    }
}

/// The ranks of the kinds that a user orders; other kinds have rank 0.
fn ranks(options: &Node) -> BTreeMap<&str, isize> {
    let kinds = |field: &str| options.get(field).map_or(&[][..], Node::items).iter().filter_map(Node::text);
    let first = kinds("orderFirst").count().cast_signed();
    let first = kinds("orderFirst").zip(-first..);
    first.chain(kinds("orderLast").zip(1..)).collect()
}

/// The sort key of an object: rank of the kind; group, version and kind; namespace and name.
fn key(id: &ResourceId, node: &Node, rank: isize) -> (isize, bool, String, String) {
    let or = |text: &str, empty: &str| if text.is_empty() { empty.to_string() } else { text.to_string() };
    let kind = format!("{}_{}_{}", or(&id.group, "~G"), or(&id.version, "~V"), or(&id.kind, "~K"));
    let namespace = node.at_keys(&["metadata", "namespace"]).and_then(Node::text).unwrap_or_default();
    // The core Namespace precedes other kinds with this name.
    let is_other = &*id.kind != "Namespace" || !id.group.is_empty();
    (rank, is_other, kind, format!("{}|{}", or(namespace, "~X"), or(&id.name, "~N")))
}

/// The rank of a kind: negative if it comes first, positive if it comes last, else 0.
pub(crate) fn rank(kind: &str) -> isize {
    let position = |kinds: &[&str]| Some(kinds.iter().position(|its| *its == kind)?.cast_signed());
    let last = position(LAST).map(|index| index + 1);
    position(FIRST).map(|index| index - FIRST.len().cast_signed()).or(last).unwrap_or(0)
}
