//! Namespaces, storage, Services and limits of workloads.

use std::collections::BTreeSet;

use super::fault::{Fault, field, integer, is_unknown, items, known, number, text};
use super::secrets::{self, keys_of_config_map};
use super::services;
use crate::api::validate::is_dns_label;
use crate::kube::Object;
use crate::lint::fields::known_text;
use crate::yaml::Node;

/// The prefix of the labels of Pod Security Admission.
const POD_SECURITY: &str = "pod-security.kubernetes.io/";

const LEVELS: [&str; 3] = ["privileged", "baseline", "restricted"];

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

/// The maximum length of a key of a ConfigMap or a Secret.
const MAX_KEY: usize = 253;

pub(super) fn config_map(object: &Object, faults: &mut Vec<Fault>) {
    data(object, faults);
    keys_of_config_map(object, faults);
}

pub(super) fn secret(object: &Object, faults: &mut Vec<Fault>) {
    data(object, faults);
    secrets::secret(object, faults);
}

/// Checks the keys of a ConfigMap or a Secret.
///
/// Source: `IsConfigMapKey` of `k8s.io/apimachinery/pkg/util/validation`.
fn data(object: &Object, faults: &mut Vec<Fault>) {
    let fields = ["data", "binaryData", "stringData"].iter().filter_map(|key| field(&object.node, key));
    let entries = fields.flat_map(Node::entries);
    for entry in entries.filter(|entry| !is_key(&entry.key) && !entry.key.contains("${")) {
        let message = format!("has the invalid key `{}`", entry.key);
        let remedy = "write letters, digits, `-`, `_` and `.`".to_owned();
        faults.push(Fault { at: entry.key_span(), message, remedy });
    }
}

fn is_key(text: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=MAX_KEY).contains(&text.len()) && text.bytes().all(is_valid) && text != "." && !text.starts_with("..")
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
            if !is_dns_label(name) {
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
    services::check(spec, kind, faults);
    if let Some(kind) = kind.filter(|kind| is_headless && matches!(*kind, "NodePort" | "LoadBalancer")) {
        let at = field(spec, "clusterIP").unwrap_or(spec);
        let message = format!("has `clusterIP: None`, but its type is `{kind}`");
        faults.push(Fault::new(at, message, "remove one of them"));
    }
    if kind == Some("ExternalName") && field(spec, "externalName").is_none_or(|name| name.text() == Some("")) {
        let at = field(spec, "type").unwrap_or(spec);
        faults.push(Fault::new(at, "has the type `ExternalName`, but no `externalName`", "set `externalName`"));
    }
    let has_no_ports = field(spec, "ports").is_none_or(|ports| ports.is_seq() && ports.items().is_empty());
    let needs_ports = matches!(kind, Some("ClusterIP" | "NodePort" | "LoadBalancer")) && !is_headless;
    if has_no_ports && needs_ports && !field(spec, "clusterIP").is_some_and(is_unknown) {
        faults.push(Fault::new(spec, "has no ports", "add the ports of its pods, or set `clusterIP: None`"));
    }
}

pub(super) fn autoscaler(object: &Object, faults: &mut Vec<Fault>) {
    let Some(spec) = object.node.get("spec") else { return };
    if let Some((node, max)) = field(spec, "maxReplicas").zip(number(spec, "maxReplicas")).filter(|(_, max)| *max < 1) {
        faults.push(Fault::new(node, format!("has `maxReplicas: {max}`"), "write a number of at least 1"));
        return;
    }
    faults.extend(items(spec, "metrics").iter().filter_map(of_metric));
    let Some((min, max)) = number(spec, "minReplicas").zip(number(spec, "maxReplicas")) else { return };
    if let Some(node) = spec.get("maxReplicas").filter(|_| min > max) {
        let message = format!("has `maxReplicas: {max}`, which is less than `minReplicas: {min}`");
        faults.push(Fault::new(node, message, "correct one of them"));
    }
}

/// The types of metrics, with the field that each of them requires.
const METRICS: [(&str, &str); 5] = [
    ("ContainerResource", "containerResource"),
    ("External", "external"),
    ("Object", "object"),
    ("Pods", "pods"),
    ("Resource", "resource"),
];

/// The fault of a metric of an autoscaler.
///
/// Source: `validateMetricSpec` of `k8s.io/kubernetes/pkg/apis/autoscaling/validation`.
fn of_metric(metric: &Node) -> Option<Fault> {
    let (node, kind) = known(metric, "type")?;
    let (_, key) = METRICS.iter().find(|(known, _)| *known == kind)?;
    let Some(source) = field(metric, key) else {
        let message = format!("has a metric of the type `{kind}` without `{key}`");
        return Some(Fault::new(node, message, format!("set `{key}`")));
    };
    let target = field(source, "target").filter(|_| *key == "resource" && !is_unknown(source))?;
    let value = field(target, "averageValue");
    match (field(target, "averageUtilization"), value) {
        (None, None) => {
            let message = "has a metric of a resource without a target";
            Some(Fault::new(target, message, "set `averageUtilization` or `averageValue`"))
        }
        (Some(_), Some(value)) => {
            let message = "has a metric of a resource with `averageUtilization` and `averageValue`";
            Some(Fault::new(value, message, "remove one of them; in a patch, set it to null"))
        }
        _ => None,
    }
}

pub(super) fn disruption_budget(object: &Object, faults: &mut Vec<Fault>) {
    let Some(spec) = object.node.get("spec") else { return };
    for key in ["maxUnavailable", "minAvailable"] {
        let Some(node) = field(spec, key) else { continue };
        let is_text = integer(node).is_none() && !is_unknown(node);
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(text) = known_text(node).filter(|text| is_text && !text.strip_suffix('%').is_some_and(digits)) {
            let message = format!("has `{key}: \"{text}\"`, which is neither a number nor a percentage");
            faults.push(Fault::new(node, message, "write a number without quotes, or a percentage such as `50%`"));
        }
    }
    if let Some(node) = field(spec, "maxUnavailable").filter(|_| field(spec, "minAvailable").is_some()) {
        let message = "has both `minAvailable` and `maxUnavailable`";
        faults.push(Fault::new(node, message, "remove one of them; in a patch, set it to null"));
    }
}
