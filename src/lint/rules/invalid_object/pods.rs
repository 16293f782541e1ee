//! Pods: containers, volumes, ports, variables and resources.

use std::collections::BTreeSet;

use super::fault::{Fault, field, is_unknown, items, list, text};
use super::ports::port_name_fault;
use super::probes::check_probes;
use super::{pod_settings, pod_values};
use crate::api::validate::is_dns_label;
use crate::kube::Object;
use crate::kube::quantity::Quantity;
use crate::lint::facts::pods::containers;
use crate::lint::fields::known_text;
use crate::yaml::Node;

/// The maximum number of volumes that a help names.
const MAX_NAMED: usize = 8;

/// The types of volumes that users combine by mistake.
const VOLUME_TYPES: [&str; 10] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "hostPath",
    "nfs",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

/// Checks the pods of a Pod or a workload.
pub(super) fn pod(object: &Object, faults: &mut Vec<Fault>) {
    let Some(pod) = containers::pod(object) else { return };
    for volume in items(pod, "volumes") {
        faults.extend(several_types(volume));
    }
    pod_values::check_pod(pod, faults);
    pod_settings::check(pod, faults);
    let volumes = volumes(object, pod);
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for key in ["containers", "initContainers"] {
        for container in items(pod, key) {
            let Some(name) = field(container, "name") else { continue };
            if known_text(name).is_some_and(|text| !names.insert(text)) {
                let message = format!("has two containers with the name `{}`", name.text().unwrap_or_default());
                faults.push(Fault::new(name, message, "rename one of them"));
            }
            if let Some(text) = known_text(name).filter(|text| !is_dns_label(text)) {
                let message = format!("has a container with the invalid name `{text}`");
                faults.push(Fault::new(name, message, "write lowercase letters, digits and hyphens"));
            }
            check_probes(container, faults);
            pod_values::check_container(pod, container, faults);
            check_container(container, volumes.as_ref(), faults);
            if key == "initContainers" && field(container, "restartPolicy").is_none() {
                faults.extend(probe_of_init_container(container));
            }
        }
    }
}

/// The names of the volumes that containers can mount, if all of them are known.
fn volumes<'a>(object: &'a Object, pod: &'a Node) -> Option<BTreeSet<&'a str>> {
    // A webhook may add volumes to a Pod.
    if object.is("", "Pod") {
        return None;
    }
    list(pod, "volumes")?.iter().map(|volume| volume.get("name").and_then(known_text)).collect()
}

/// The fault of a volume with several types.
fn several_types(volume: &Node) -> Option<Fault> {
    let is_type = |key: &str| VOLUME_TYPES.contains(&key);
    let types: Vec<_> = volume.entries().iter().filter(|entry| is_type(&entry.key) && entry.node.is_map()).collect();
    let [first, second, ..] = types.as_slice() else { return None };
    let name = volume.get("name").and_then(Node::text).unwrap_or_default();
    let message = format!("has a volume `{name}` with two types: `{}` and `{}`", first.key, second.key);
    Some(Fault { at: second.key_span(), message, remedy: "remove one of them; in a patch, set it to null".to_owned() })
}

/// The fault of an init container with a probe.
fn probe_of_init_container(container: &Node) -> Option<Fault> {
    let fields = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"];
    let entry = fields.iter().find_map(|key| container.entry(key)).filter(|entry| !entry.node.is_null())?;
    let message = format!("has an init container with `{}`", entry.key);
    Some(Fault { at: entry.key_span(), message, remedy: "remove it, or set `restartPolicy: Always`".to_owned() })
}

fn check_container(container: &Node, volumes: Option<&BTreeSet<&str>>, faults: &mut Vec<Fault>) {
    if let Some(volumes) = volumes {
        for mount in items(container, "volumeMounts") {
            let Some(node) = mount.get("name") else { continue };
            let Some(name) = known_text(node).filter(|name| !volumes.contains(name)) else { continue };
            let known: Vec<String> = volumes.iter().take(MAX_NAMED).map(|volume| format!("`{volume}`")).collect();
            let remedy = match known.as_slice() {
                [] => format!("add the volume `{name}`"),
                known if known.len() < volumes.len() => "add the volume, or write the name of another one".to_owned(),
                known => format!("add the volume, or write {}", known.join(" or ")),
            };
            faults.push(Fault::new(node, format!("mounts the volume `{name}`, which its pods do not have"), remedy));
        }
    }
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for port in items(container, "ports") {
        let Some(node) = field(port, "name") else { continue };
        let Some(name) = known_text(node) else { continue };
        if let Some(why) = port_name_fault(name) {
            let remedy = "write at most 15 lowercase letters, digits and hyphens";
            faults.push(Fault::new(node, format!("has a port with the invalid name `{name}`: {why}"), remedy));
        } else if !names.insert(name) {
            let message = format!("has two ports of a container with the name `{name}`");
            faults.push(Fault::new(node, message, "rename one of them"));
        }
    }
    for variable in items(container, "env") {
        let has_value = text(variable, "value").is_some();
        if let Some(entry) = variable.entry("valueFrom").filter(|entry| has_value && entry.node.is_map()) {
            let name = variable.get("name").and_then(Node::text).unwrap_or_default();
            let message = format!("has a variable `{name}` with `value` and `valueFrom`");
            let remedy = "remove one of them; in a patch, set it to null".to_owned();
            faults.push(Fault { at: entry.key_span(), message, remedy });
        }
    }
    if let Some(resources) = field(container, "resources") {
        check_resources(resources, faults);
    }
}

/// Checks the names of resources.
fn check_names_of_resources(resources: &Node, faults: &mut Vec<Fault>) {
    let lists = ["limits", "requests"].into_iter().filter_map(|key| field(resources, key));
    for entry in lists.flat_map(Node::entries) {
        let name = &*entry.key;
        let is_standard = matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-");
        if !is_standard && !name.contains('/') && !name.contains('$') {
            let message = format!("has the unknown resource `{name}`");
            let remedy = "write a resource with its domain, such as `nvidia.com/gpu`".to_owned();
            faults.push(Fault { at: entry.key_span(), message, remedy });
        }
    }
}

/// Checks that extended resources are whole numbers, and that huge pages are beside processor time or memory.
fn check_huge_pages(resources: &Node, faults: &mut Vec<Fault>) {
    let lists = || ["limits", "requests"].into_iter().filter_map(|key| field(resources, key)).flat_map(Node::entries);
    let is_open = is_unknown(resources);
    let has_native = lists().any(|entry| matches!(&*entry.key, "cpu" | "memory"));
    for entry in lists() {
        let name = &*entry.key;
        if name.starts_with("hugepages-") && !has_native && !is_open {
            let message = format!("has `{name}` without `cpu` and `memory`");
            let remedy = "set `cpu` or `memory` beside it".to_owned();
            faults.push(Fault { at: entry.key_span(), message, remedy });
            return;
        }
        let is_extended = name.contains('/') && !name.contains("kubernetes.io/");
        if let Some((text, amount)) = quantity(&entry.node).filter(|_| is_extended)
            && amount % 1_000_000_000 != 0
        {
            let message = format!("has `{name}: {text}`, which is no whole number");
            faults.push(Fault::new(&entry.node, message, "write a whole number"));
        }
    }
}

fn check_resources(resources: &Node, faults: &mut Vec<Fault>) {
    check_names_of_resources(resources, faults);
    check_huge_pages(resources, faults);
    let Some(requests) = field(resources, "requests") else { return };
    let limits = field(resources, "limits");
    if limits.is_some_and(|limits| !limits.is_map()) {
        return;
    }
    for entry in requests.entries() {
        let name = &*entry.key;
        let Some((own, request)) = quantity(&entry.node) else { continue };
        // Only native resources other than huge pages can be overcommitted.
        let is_native = (!name.contains('/') || name.contains("kubernetes.io/")) && !name.starts_with("hugepages-");
        let limit = limits.and_then(|limits| field(limits, name));
        let Some(limit) = limit else {
            if !is_native && !limits.is_some_and(is_unknown) {
                let message = format!("requests `{name}` without a limit");
                faults.push(Fault::new(&entry.node, message, format!("set the limit of `{name}` to `{own}` too")));
            }
            continue;
        };
        let Some((text, limit)) = quantity(limit) else { continue };
        if request > limit {
            let message = format!("requests more `{name}` than its limit: `{own}`, limit `{text}`");
            faults.push(Fault::new(&entry.node, message, "lower the request, or increase the limit"));
        } else if !is_native && request != limit {
            let message = format!("requests other `{name}` than its limit: `{own}`, limit `{text}`");
            faults.push(Fault::new(&entry.node, message, "write the same value"));
        }
    }
}

fn quantity(node: &Node) -> Option<(&str, i128)> {
    let text = known_text(node)?;
    Some((text, Quantity::parse(text)?.nanos()))
}
