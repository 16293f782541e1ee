//! Objects that create a Namespace: requests, objects with a manifest, and policies.

use std::collections::BTreeSet;

use crate::flux::Applied;
use crate::kube::Object;
use crate::lint::fields::{mentions, text_of};
use crate::yaml::Node;

/// The kinds whose objects create a namespace with their own name.
const REQUESTS: &[(&str, &str)] = &[
    ("hnc.x-k8s.io", "SubnamespaceAnchor"),
    ("project.openshift.io", "Project"),
    ("project.openshift.io", "ProjectRequest"),
];

/// The kinds of Crossplane whose objects contain a manifest of another object.
const CONTAINERS: &[(&str, &str)] = &[("kubernetes.crossplane.io", "Object"), ("kubernetes.m.crossplane.io", "Object")];

/// The namespaces that the objects of a cluster create or may create.
#[derive(Debug, Default)]
pub(crate) struct RequestedNamespaces<'a> {
    names: BTreeSet<&'a str>,
    /// Whether a policy may create a namespace with any name.
    may_be_any: bool,
}

impl<'a> RequestedNamespaces<'a> {
    /// Reads the objects of each kind, by group and kind.
    pub(crate) fn of<I: Iterator<Item = Applied<'a>>>(of_kind: impl Fn(&'static str, &'static str) -> I) -> Self {
        let mut all = Self::default();
        let requests = REQUESTS.iter().flat_map(|(group, kind)| of_kind(group, kind));
        all.names.extend(requests.map(|applied| applied.object.name()));
        let containers = CONTAINERS.iter().flat_map(|(group, kind)| of_kind(group, kind));
        all.names.extend(containers.filter_map(|applied| contained(applied.object)));
        for policy in ["ClusterPolicy", "Policy"].into_iter().flat_map(|kind| of_kind("kyverno.io", kind)) {
            all.add_generated(policy.object);
        }
        // Fleetwright does not evaluate the expressions of these policies.
        let kinds = ["GeneratingPolicy", "NamespacedGeneratingPolicy"].into_iter();
        let mut policies = kinds.flat_map(|kind| of_kind("policies.kyverno.io", kind));
        all.may_be_any |= policies.any(|applied| mentions(&applied.object.node, "Namespace"));
        all
    }

    /// Returns whether an object creates or may create a namespace.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.may_be_any || self.names.contains(name)
    }

    fn add_generated(&mut self, policy: &'a Object) {
        let rules = policy.node.at_keys(&["spec", "rules"]).map_or(&[][..], Node::items);
        for generate in rules.iter().filter_map(|rule| rule.get("generate")) {
            let each = generate.get("foreach").map_or(&[][..], Node::items);
            let all = std::iter::once(generate).chain(each);
            for name in
                all.filter(|one| text_of(one, "kind") == Some("Namespace")).filter_map(|one| text_of(one, "name"))
            {
                self.may_be_any |= name.contains("{{");
                self.names.insert(name);
            }
        }
    }
}

/// The name of the Namespace that an object of Crossplane contains.
fn contained(container: &Object) -> Option<&str> {
    let manifest = container.node.at_keys(&["spec", "forProvider", "manifest"])?;
    let own = manifest.at_keys(&["metadata", "name"]).and_then(Node::text).unwrap_or(container.name());
    (text_of(manifest, "kind") == Some("Namespace")).then_some(own)
}
