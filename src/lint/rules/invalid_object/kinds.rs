//! Kinds without pods.

use std::collections::BTreeSet;

use super::fault::{Fault, field, is_unknown, items, number, text};
use crate::kube::{Object, groups};
use crate::lint::fields::known_text;
use crate::yaml::{Entry, Node};

/// The prefix of the labels of Pod Security Admission.
const POD_SECURITY: &str = "pod-security.kubernetes.io/";

const LEVELS: [&str; 3] = ["privileged", "baseline", "restricted"];

/// The maximum length of the name of a Service's port.
const MAX_LABEL: usize = 63;

/// The maximum length of a key of a ConfigMap or a Secret.
const MAX_KEY: usize = 253;

/// Checks the labels of Pod Security Admission.
///
/// Source: `PolicyToEvaluate` of `k8s.io/pod-security-admission`.
pub(super) fn namespace(object: &Object, faults: &mut Vec<Fault>) {
    for mode in ["enforce", "audit", "warn"] {
        let label = |name: &str| object.node.at_keys(&["metadata", "labels", name]);
        let known =
            |node: Option<&'_ Node>| node.and_then(|node| Some((node.span().clone(), known_text(node)?.to_owned())));
        let name = format!("{POD_SECURITY}{mode}");
        if let Some((at, level)) = known(label(&name)).filter(|(_, level)| !LEVELS.contains(&&**level)) {
            let message = format!("has an unknown level `{level}` in the label `{name}`");
            let remedy = "write `privileged`, `baseline` or `restricted`".to_owned();
            faults.push(Fault { at, message, remedy });
        }
        let name = format!("{name}-version");
        if let Some((at, version)) = known(label(&name)).filter(|(_, version)| !is_version(version)) {
            let message = format!("has an invalid version `{version}` in the label `{name}`");
            faults.push(Fault { at, message, remedy: "write `latest`, or a version such as `v1.30`".to_owned() });
        }
    }
}

/// Returns whether a text is `latest` or a minor version, such as `v1.30`.
fn is_version(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let minor =
        text.strip_prefix("v1.").is_some_and(|minor| is_number(minor) && (minor == "0" || !minor.starts_with('0')));
    text == "latest" || minor
}

pub(super) fn claim(object: &Object, faults: &mut Vec<Fault>) {
    let Some(spec) = object.node.get("spec").filter(|spec| spec.is_map()) else { return };
    let modes = field(spec, "accessModes");
    if modes.is_none_or(|modes| modes.is_seq() && modes.items().is_empty()) {
        let remedy = "set `accessModes`, for example to `[ReadWriteOnce]`";
        faults.push(Fault::new(modes.unwrap_or(spec), "has no `accessModes`", remedy));
    }
    let resources = field(spec, "resources");
    let requests = resources.and_then(|resources| field(resources, "requests"));
    let is_open = |node: Option<&Node>| node.is_some_and(|node| !node.is_map() || is_unknown(node));
    let has_size = requests.is_some_and(|requests| field(requests, "storage").is_some());
    if !has_size && !is_open(resources) && !is_open(requests) {
        let at = requests.or(resources).unwrap_or(spec);
        faults.push(Fault::new(at, "requests no `storage`", "set `resources.requests.storage`"));
    }
}

pub(super) fn service(object: &Object, faults: &mut Vec<Fault>) {
    let Some(spec) = object.node.get("spec").filter(|spec| spec.is_map()) else { return };
    let ports = items(spec, "ports");
    let is_headless = text(spec, "clusterIP") == Some("None");
    // Without a known type, nothing that depends on the type is certain.
    let kind = match field(spec, "type") {
        Some(node) => known_text(node),
        None => Some("ClusterIP"),
    };
    let mut names: BTreeSet<&str> = BTreeSet::new();
    if let Some(port) = ports.iter().find(|port| ports.len() > 1 && field(port, "name").is_none()) {
        faults.push(Fault::new(port, "has several ports, and one has no name", "give each port a name"));
    }
    for port in ports {
        if let Some((node, name)) = field(port, "name").and_then(|node| Some((node, known_text(node)?))) {
            if !is_label(name) {
                let message = format!("has a port with the invalid name `{name}`");
                faults.push(Fault::new(node, message, "write lowercase letters, digits and hyphens"));
            } else if !names.insert(name) {
                let message = format!("has two ports with the name `{name}`");
                faults.push(Fault::new(node, message, "rename one of them"));
            }
        }
        let node_port = field(port, "nodePort").filter(|node| known_text(node).is_some_and(|text| text != "0"));
        if let Some(node) = node_port.filter(|_| kind == Some("ClusterIP")) {
            let message = "has a `nodePort`, but its type is `ClusterIP`";
            faults.push(Fault::new(node, message, "set `type: NodePort`, or remove `nodePort`"));
        }
    }
    if let Some(kind) = kind.filter(|kind| is_headless && matches!(*kind, "NodePort" | "LoadBalancer")) {
        let at = field(spec, "clusterIP").unwrap_or(spec);
        let message = format!("has `clusterIP: None`, but its type is `{kind}`");
        faults.push(Fault::new(at, message, "remove one of them"));
    }
    let has_no_ports = field(spec, "ports").is_none_or(|ports| ports.is_seq() && ports.items().is_empty());
    let needs_ports = matches!(kind, Some("ClusterIP" | "NodePort" | "LoadBalancer")) && !is_headless;
    if has_no_ports && needs_ports && !field(spec, "clusterIP").is_some_and(is_unknown) {
        faults.push(Fault::new(spec, "has no ports", "add the ports of its pods, or set `clusterIP: None`"));
    }
}

/// Returns whether a text is a DNS label.
fn is_label(text: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.len() <= MAX_LABEL && text.bytes().all(is_valid) && !text.starts_with('-') && !text.ends_with('-')
}

pub(super) fn autoscaler(object: &Object, faults: &mut Vec<Fault>) {
    let Some(spec) = object.node.get("spec") else { return };
    let Some((min, max)) = number(spec, "minReplicas").zip(number(spec, "maxReplicas")) else { return };
    if let Some(node) = spec.get("maxReplicas").filter(|_| min > max) {
        let message = format!("has `maxReplicas: {max}`, which is less than `minReplicas: {min}`");
        faults.push(Fault::new(node, message, "correct one of them"));
    }
}

pub(super) fn disruption_budget(object: &Object, faults: &mut Vec<Fault>) {
    let Some(spec) = object.node.get("spec") else { return };
    if let Some(node) = field(spec, "maxUnavailable").filter(|_| field(spec, "minAvailable").is_some()) {
        let message = "has both `minAvailable` and `maxUnavailable`";
        faults.push(Fault::new(node, message, "remove one of them; in a patch, set it to null"));
    }
}

/// Checks the keys of a ConfigMap or a Secret.
///
/// Source: `IsConfigMapKey` of `k8s.io/apimachinery`.
pub(super) fn keys(object: &Object, faults: &mut Vec<Fault>) {
    for entry in ["data", "stringData", "binaryData"].iter().flat_map(|key| items_of(object, key)) {
        let key = &*entry.key;
        let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        let is_path = key == "." || key.starts_with("..");
        if key.contains("${") || (key.len() <= MAX_KEY && !is_path && !key.is_empty() && key.bytes().all(is_valid)) {
            continue;
        }
        let message = format!("has an invalid key `{}`", key.escape_debug());
        let remedy = "write letters, digits, `-`, `_` and `.`, without two dots at the start".to_owned();
        faults.push(Fault { at: entry.key_span(), message, remedy });
    }
}

fn items_of<'a>(object: &'a Object, key: &str) -> &'a [Entry] {
    field(&object.node, key).map_or(&[][..], Node::entries)
}

pub(super) fn cluster_role_binding(object: &Object, faults: &mut Vec<Fault>) {
    let role = field(&object.node, "roleRef").and_then(|role| field(role, "kind"));
    if let Some(node) = role.filter(|node| known_text(node) == Some("Role")) {
        let remedy = "bind a ClusterRole, or write a RoleBinding in the namespace of the Role";
        faults.push(Fault::new(node, "references a Role, but it can only bind a ClusterRole", remedy));
    }
    role_binding(object, faults);
    for subject in items(&object.node, "subjects") {
        if text(subject, "kind") == Some("ServiceAccount") && field(subject, "namespace").is_none() {
            let name = subject.get("name").and_then(Node::text).unwrap_or_default();
            let message = format!("has a ServiceAccount `{name}` without a namespace");
            faults.push(Fault::new(subject, message, "set `namespace`"));
        }
    }
}

/// Checks the subjects of a RoleBinding or ClusterRoleBinding.
pub(super) fn role_binding(object: &Object, faults: &mut Vec<Fault>) {
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
