//! What makes objects in namespaces of others: policies that generate, and operators for tenants.

use crate::flux::Applied;
use crate::lint::view::View;
use crate::yaml::Node;

/// The policies of Kyverno, which may generate anything.
const POLICIES: [(&str, &str); 4] = [
    ("kyverno.io", "ClusterPolicy"),
    ("kyverno.io", "Policy"),
    ("policies.kyverno.io", "GeneratingPolicy"),
    ("policies.kyverno.io", "NamespacedGeneratingPolicy"),
];

/// The kinds by which operators set up namespaces of tenants.
const OPERATORS: [(&str, &str); 5] = [
    ("capsule.clastix.io", "GlobalTenantResource"),
    ("capsule.clastix.io", "Tenant"),
    ("capsule.clastix.io", "TenantResource"),
    ("hnc.x-k8s.io", "HierarchyConfiguration"),
    ("redhatcop.redhat.io", "NamespaceConfig"),
];

impl<'a> View<'a> {
    /// What may make objects of a kind in namespaces, or set a label of theirs that is named so, beside who applies them.
    pub(crate) fn generator(&self, says: &str) -> Option<Applied<'a>> {
        let policies = POLICIES.iter().flat_map(|(group, kind)| self.of_kind(group, kind));
        let mut making = policies.filter(|policy| policy.object.node.get("spec").is_some_and(|spec| makes(spec, says)));
        making.next().or_else(|| OPERATORS.iter().find_map(|(group, kind)| self.of_kind(group, kind).next()))
    }
}

/// Tells whether the `spec` of a policy mentions something in what it generates or changes. What a policy merely matches or
/// validates makes nothing.
fn makes(spec: &Node, says: &str) -> bool {
    let whole = spec.get("generate").is_some().then_some(spec);
    let rules = spec.get("rules").map_or(&[][..], Node::items).iter();
    let parts = rules.flat_map(|rule| ["generate", "mutate"].into_iter().filter_map(|part| rule.get(part)));
    whole.into_iter().chain(parts).any(|node| mentions(node, says))
}

fn mentions(node: &Node, says: &str) -> bool {
    node.text().is_some_and(|text| has_word(text, says))
        || node.items().iter().any(|item| mentions(item, says))
        || node.entries().iter().any(|entry| has_word(&entry.key, says) || mentions(&entry.node, says))
}

/// Whether a text has a word in it: a RoleBinding is no Role.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let is_end = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric());
        let (before, after) = (text.get(..at), text.get(at + word.len()..));
        is_end(before.and_then(|text| text.chars().next_back())) && is_end(after.and_then(|text| text.chars().next()))
    })
}
