//! What makes Namespaces without being one: requests for them, objects that hold one, policies.

use super::duration_fields::mentions;
use crate::kube::Object;
use crate::lint::refs::wanted::said;
use crate::lint::view::View;
use crate::yaml::Node;

/// Kinds of which each object makes a namespace of its own name.
const NAMED_AFTER: &[(&str, &str)] = &[
    ("hnc.x-k8s.io", "SubnamespaceAnchor"),
    ("project.openshift.io", "Project"),
    ("project.openshift.io", "ProjectRequest"),
];

/// Kinds whose objects hold a manifest of another one: Crossplane's, for whatever cluster its provider knows.
const HOLDERS: &[(&str, &str)] = &[("kubernetes.crossplane.io", "Object"), ("kubernetes.m.crossplane.io", "Object")];

/// Whether something on a cluster makes a namespace, or may do so.
pub(crate) fn makes_namespace(view: &View<'_>, name: &str) -> bool {
    let is_asked_for =
        |(group, kind): &(&str, &str)| view.of_kind(group, kind).any(|applied| applied.object.name() == name);
    let is_held = |(group, kind): &(&str, &str)| view.of_kind(group, kind).any(|applied| holds(applied.object, name));
    let is_generated = |kind: &str| {
        let policies = view.of_kind("kyverno.io", kind);
        policies.into_iter().any(|applied| generates(applied.object, name))
    };
    // Of these the expression that generates is not read.
    let may_generate = |kind: &str| {
        let policies = view.of_kind("policies.kyverno.io", kind);
        policies.into_iter().any(|applied| mentions(&applied.object.node, "Namespace"))
    };
    NAMED_AFTER.iter().any(is_asked_for)
        || HOLDERS.iter().any(is_held)
        || ["ClusterPolicy", "Policy"].into_iter().any(is_generated)
        || ["GeneratingPolicy", "NamespacedGeneratingPolicy"].into_iter().any(may_generate)
}

fn holds(holder: &Object, name: &str) -> bool {
    let Some(manifest) = holder.node.at_keys(&["spec", "forProvider", "manifest"]) else { return false };
    let own = manifest.at_keys(&["metadata", "name"]).and_then(Node::text).unwrap_or(holder.name());
    said(manifest, "kind") == Some("Namespace") && own == name
}

fn generates(policy: &Object, name: &str) -> bool {
    let rules = policy.node.at_keys(&["spec", "rules"]).map_or(&[][..], Node::items);
    rules.iter().filter_map(|rule| rule.get("generate")).any(|generate| {
        let each = generate.get("foreach").map_or(&[][..], Node::items);
        std::iter::once(generate).chain(each).any(|generate| {
            let is_meant = said(generate, "name").is_some_and(|said| said == name || said.contains("{{"));
            said(generate, "kind") == Some("Namespace") && is_meant
        })
    })
}
