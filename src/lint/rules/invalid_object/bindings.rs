//! RoleBindings and ClusterRoleBindings.
//!
//! Source: `k8s.io/kubernetes/pkg/apis/rbac/validation`.

use super::fault::{Fault, field, items, text};
use crate::kube::{Object, groups};
use crate::lint::fields::known_text;
use crate::yaml::Node;

pub(super) fn cluster_role_binding(object: &Object, faults: &mut Vec<Fault>) {
    check_role(object, &["ClusterRole"], faults);
    check_subjects(object, faults);
    for subject in items(&object.node, "subjects") {
        if text(subject, "kind") == Some("ServiceAccount") && field(subject, "namespace").is_none() {
            let name = subject.get("name").and_then(Node::text).unwrap_or_default();
            let message = format!("has a ServiceAccount `{name}` without a namespace");
            faults.push(Fault::new(subject, message, "set `namespace`"));
        }
    }
}

pub(super) fn role_binding(object: &Object, faults: &mut Vec<Fault>) {
    check_role(object, &["Role", "ClusterRole"], faults);
    check_subjects(object, faults);
}

/// Checks the role of a binding. The API server sets an empty kind or group.
fn check_role(object: &Object, kinds: &[&str], faults: &mut Vec<Fault>) {
    let Some(role) = object.node.get("roleRef") else { return };
    let known = |key: &str| field(role, key).and_then(|node| Some((node, known_text(node)?)));
    if let Some((node, group)) = known("apiGroup").filter(|(_, group)| *group != groups::RBAC) {
        let message = format!("references a role in the API group `{group}`");
        faults.push(Fault::new(node, message, format!("write `{}`", groups::RBAC)));
    }
    if let Some((node, kind)) = known("kind").filter(|(_, kind)| !kinds.contains(kind)) {
        let kinds: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
        let message = format!("references a role of kind `{kind}`");
        faults.push(Fault::new(node, message, format!("write {}", kinds.join(" or "))));
    }
}

fn check_subjects(object: &Object, faults: &mut Vec<Fault>) {
    for subject in items(&object.node, "subjects") {
        let Some(node) = subject.get("kind") else { continue };
        let Some(kind) = known_text(node) else { continue };
        let expected = match kind {
            "ServiceAccount" => "",
            "User" | "Group" => groups::RBAC,
            _ => {
                let message = format!("has a subject of the unknown kind `{kind}`");
                faults.push(Fault::new(node, message, "write `ServiceAccount`, `User` or `Group`"));
                continue;
            }
        };
        // The API server sets an empty group.
        let Some(group) = field(subject, "apiGroup") else { continue };
        if let Some(wrong) = known_text(group).filter(|group| *group != expected) {
            let message = format!("has a subject of kind {kind} in the API group `{wrong}`");
            faults.push(Fault::new(group, message, "remove `apiGroup`"));
        }
    }
}
