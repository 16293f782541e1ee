//! The rules of roles.

use super::fault::{Fault, field, items, list};
use crate::kube::Object;
use crate::yaml::Node;

pub(super) fn role(object: &Object, faults: &mut Vec<Fault>) {
    for rule in items(&object.node, "rules") {
        check(rule, true, faults);
    }
}

pub(super) fn cluster_role(object: &Object, faults: &mut Vec<Fault>) {
    for rule in items(&object.node, "rules") {
        check(rule, false, faults);
    }
}

/// Source: `ValidatePolicyRule` of `k8s.io/kubernetes/pkg/apis/rbac/validation`.
fn check(rule: &Node, is_namespaced: bool, faults: &mut Vec<Fault>) {
    if !rule.is_map() {
        return;
    }
    let is_empty = |key: &str| list(rule, key).is_some_and(<[Node]>::is_empty);
    let lists = ["apiGroups", "resources", "verbs", "nonResourceURLs"];
    // A mistyped key is the fault of another rule.
    if lists.iter().any(|key| list(rule, key).is_none()) || rule.entries().iter().any(|entry| entry.key.contains("${"))
    {
        return;
    }
    if is_empty("verbs") {
        faults.push(Fault::new(rule, "has a rule without `verbs`", "set `verbs`"));
    }
    if let Some(urls) = field(rule, "nonResourceURLs").filter(|_| !is_empty("nonResourceURLs")) {
        if is_namespaced {
            let message = "has a rule with `nonResourceURLs`, which only ClusterRoles have";
            faults.push(Fault::new(urls, message, "write a ClusterRole and a ClusterRoleBinding"));
        } else if !is_empty("apiGroups") || !is_empty("resources") {
            let message = "has a rule with `nonResourceURLs` and with resources";
            faults.push(Fault::new(urls, message, "write two rules"));
        }
        return;
    }
    for key in ["apiGroups", "resources"] {
        if is_empty(key) {
            let remedy =
                if key == "apiGroups" { "set `apiGroups`; the core group is `\"\"`" } else { "set `resources`" };
            faults.push(Fault::new(rule, format!("has a rule without `{key}`"), remedy));
        }
    }
}
