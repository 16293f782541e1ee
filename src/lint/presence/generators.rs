//! Policies, operators, templates and writers that may create an object.

use crate::flux::{Applied, has_word};
use crate::kube::{ObjectId, groups};
use crate::lint::view::View;
use crate::yaml::Node;

/// The kinds of Kyverno policies, which can generate any object.
const POLICIES: [(&str, &str); 4] = [
    ("kyverno.io", "ClusterPolicy"),
    ("kyverno.io", "Policy"),
    ("policies.kyverno.io", "GeneratingPolicy"),
    ("policies.kyverno.io", "NamespacedGeneratingPolicy"),
];

/// The kinds of the operators that manage tenant namespaces.
const OPERATORS: [(&str, &str); 5] = [
    ("capsule.clastix.io", "GlobalTenantResource"),
    ("capsule.clastix.io", "Tenant"),
    ("capsule.clastix.io", "TenantResource"),
    ("hnc.x-k8s.io", "HierarchyConfiguration"),
    ("redhatcop.redhat.io", "NamespaceConfig"),
];

/// The kinds that contain manifests, which a controller other than Flux applies.
const TEMPLATES: [(&str, &str); 4] = [
    ("apiextensions.crossplane.io", "Composition"),
    ("kro.run", "ResourceGraphDefinition"),
    ("kubernetes.crossplane.io", "Object"),
    ("kubernetes.m.crossplane.io", "Object"),
];

impl<'a> View<'a> {
    /// Returns a policy, or an object of an operator, that may create an object.
    ///
    /// [`View::producers`] evaluates the policies that generate `ConfigMap` and `Secret` objects.
    pub(crate) fn creator(&self, wanted: ObjectId<'_>) -> Option<Applied<'a>> {
        let is_of_rights = wanted.group == groups::RBAC || wanted.kind == "ServiceAccount";
        if is_of_rights && let Some(found) = self.generator(wanted.kind) {
            return Some(found);
        }
        let policies = POLICIES.iter().filter(|_| !matches!(wanted.kind, "ConfigMap" | "Secret"));
        let mut templates = TEMPLATES.iter().chain(policies).flat_map(|(group, kind)| self.of_kind(group, kind));
        templates.find(|found| {
            let spec = found.object.node.get("spec");
            let policy = POLICIES.contains(&(found.object.group(), found.object.kind()));
            spec.is_some_and(|spec| if policy { generates(spec, wanted.kind) } else { mentions(spec, wanted.kind) })
        })
    }

    /// Returns a role that allows an account to write a Secret or ConfigMap with this name.
    ///
    /// Only a program that writes the object needs such a rule.
    pub(crate) fn role_of_writer(&self, wanted: ObjectId<'_>) -> Option<Applied<'a>> {
        let resource = match (wanted.group, wanted.kind) {
            ("", "Secret") => "secrets",
            ("", "ConfigMap") => "configmaps",
            _ => return None,
        };
        let roles = self.of_kind(groups::RBAC, "Role");
        let roles = roles.filter(|role| role.object.namespace() == Some(wanted.namespace));
        let mut roles = roles.chain(self.of_kind(groups::RBAC, "ClusterRole"));
        roles.find(|found| {
            let granted = found.object.node.get("rules").map_or(&[][..], Node::items);
            granted.iter().any(|rule| {
                let has = |field: &str, words: &[&str]| {
                    let items = rule.get(field).map_or(&[][..], Node::items);
                    items.iter().filter_map(Node::text).any(|text| words.contains(&text))
                };
                has("resources", &[resource])
                    && has("resourceNames", &[wanted.name])
                    && has("verbs", &["create", "update", "patch", "*"])
            })
        })
    }

    /// Returns a policy or operator that may create objects of a kind in namespaces, or set a label of namespaces.
    ///
    /// `word` is the kind or the name of the label.
    pub(crate) fn generator(&self, word: &str) -> Option<Applied<'a>> {
        let policies = POLICIES.iter().flat_map(|(group, kind)| self.of_kind(group, kind));
        let mut generating =
            policies.filter(|policy| policy.object.node.get("spec").is_some_and(|spec| generates(spec, word)));
        generating.next().or_else(|| OPERATORS.iter().find_map(|(group, kind)| self.of_kind(group, kind).next()))
    }
}

/// Returns whether the parts of a policy's `spec` that generate or mutate objects contain a word.
///
/// The parts that match or validate objects do not create objects.
fn generates(spec: &Node, word: &str) -> bool {
    let whole = spec.get("generate").is_some().then_some(spec);
    let rules = spec.get("rules").map_or(&[][..], Node::items).iter();
    let parts = rules.flat_map(|rule| ["generate", "mutate"].into_iter().filter_map(|part| rule.get(part)));
    whole.into_iter().chain(parts).any(|node| mentions(node, word))
}

fn mentions(node: &Node, word: &str) -> bool {
    node.text().is_some_and(|text| has_word(text, word))
        || node.items().iter().any(|item| mentions(item, word))
        || node.entries().iter().any(|entry| has_word(&entry.key, word) || mentions(&entry.node, word))
}
