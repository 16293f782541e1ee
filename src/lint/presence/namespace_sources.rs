//! Objects that create a Namespace: requests, objects with a manifest, and policies.

use crate::kube::Object;
use crate::lint::fields::{mentions, text_of};
use crate::lint::view::View;
use crate::yaml::Node;

/// The kinds whose objects create a namespace with their own name.
const REQUESTS: &[(&str, &str)] = &[
    ("hnc.x-k8s.io", "SubnamespaceAnchor"),
    ("project.openshift.io", "Project"),
    ("project.openshift.io", "ProjectRequest"),
];

/// The kinds of Crossplane whose objects contain a manifest of another object.
const CONTAINERS: &[(&str, &str)] = &[("kubernetes.crossplane.io", "Object"), ("kubernetes.m.crossplane.io", "Object")];

/// Returns whether an object of a cluster creates or may create a namespace.
pub(crate) fn creates_namespace(view: &View<'_>, name: &str) -> bool {
    let is_requested =
        |(group, kind): &(&str, &str)| view.of_kind(group, kind).any(|applied| applied.object.name() == name);
    let is_contained =
        |(group, kind): &(&str, &str)| view.of_kind(group, kind).any(|applied| contains(applied.object, name));
    let is_generated = |kind: &str| {
        let policies = view.of_kind("kyverno.io", kind);
        policies.into_iter().any(|applied| generates(applied.object, name))
    };
    // Fleetwright does not evaluate the expressions of these policies.
    let may_generate = |kind: &str| {
        let policies = view.of_kind("policies.kyverno.io", kind);
        policies.into_iter().any(|applied| mentions(&applied.object.node, "Namespace"))
    };
    REQUESTS.iter().any(is_requested)
        || CONTAINERS.iter().any(is_contained)
        || ["ClusterPolicy", "Policy"].into_iter().any(is_generated)
        || ["GeneratingPolicy", "NamespacedGeneratingPolicy"].into_iter().any(may_generate)
}

fn contains(container: &Object, name: &str) -> bool {
    let Some(manifest) = container.node.at_keys(&["spec", "forProvider", "manifest"]) else { return false };
    let own = manifest.at_keys(&["metadata", "name"]).and_then(Node::text).unwrap_or(container.name());
    text_of(manifest, "kind") == Some("Namespace") && own == name
}

fn generates(policy: &Object, name: &str) -> bool {
    let rules = policy.node.at_keys(&["spec", "rules"]).map_or(&[][..], Node::items);
    rules.iter().filter_map(|rule| rule.get("generate")).any(|generate| {
        let each = generate.get("foreach").map_or(&[][..], Node::items);
        std::iter::once(generate).chain(each).any(|generate| {
            let is_it = text_of(generate, "name").is_some_and(|text| text == name || text.contains("{{"));
            text_of(generate, "kind") == Some("Namespace") && is_it
        })
    })
}
