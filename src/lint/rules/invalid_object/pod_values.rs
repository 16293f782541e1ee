//! Values of pods: modes and names of volumes, paths of mounts, tolerations, ports, permissions and weights.

use std::collections::BTreeSet;

use super::fault::{Fault, MAX_PORT, field, integer, items, known};
use super::pod_settings::check_security;
use crate::api::validate::is_dns_label;
use crate::lint::fields::{flag, known_text};
use crate::yaml::Node;

/// The largest mode of a file.
const MAX_MODE: i64 = 0o777;

/// The largest weight of a preferred term of an affinity.
const MAX_WEIGHT: i64 = 100;

/// The affinities with weights.
const AFFINITIES: [&str; 3] = ["nodeAffinity", "podAffinity", "podAntiAffinity"];

/// Checks the values of a pod outside of its containers.
pub(super) fn check_pod(pod: &Node, faults: &mut Vec<Fault>) {
    for volume in items(pod, "volumes") {
        if let Some((node, name)) = known(volume, "name").filter(|(_, name)| !is_dns_label(name)) {
            let message = format!("has a volume with the invalid name `{name}`");
            faults.push(Fault::new(node, message, "write lowercase letters, digits and hyphens"));
        }
        let projected = field(volume, "projected");
        let own = ["configMap", "secret", "downwardAPI"];
        let sources = own.into_iter().filter_map(|key| field(volume, key));
        let of_projected = projected.map_or(&[][..], |projected| items(projected, "sources")).iter();
        let of_projected = of_projected.flat_map(|source| own.into_iter().filter_map(|key| field(source, key)));
        for source in sources.chain(projected).chain(of_projected) {
            check_files(source, faults);
        }
    }
    for toleration in items(pod, "tolerations") {
        let operator = field(toleration, "operator");
        let is_exists = operator.and_then(known_text) == Some("Exists");
        if let Some((node, value)) = known(toleration, "value").filter(|_| is_exists) {
            let message = format!("has a toleration with the operator `Exists` and the value `{value}`");
            faults.push(Fault::new(node, message, "remove the value, or write `operator: Equal`"));
        }
    }
    for affinity in AFFINITIES.iter().filter_map(|key| pod.at_keys(&["affinity", key])) {
        for term in items(affinity, "preferredDuringSchedulingIgnoredDuringExecution") {
            let weight = field(term, "weight").and_then(|node| Some((node, integer(node)?)));
            if let Some((node, weight)) = weight.filter(|(_, weight)| !(1..=MAX_WEIGHT).contains(weight)) {
                let message = format!("has an affinity with the weight {weight}");
                faults.push(Fault::new(node, message, "write a number from 1 to 100"));
            }
        }
    }
}

/// Checks the modes and paths of the files of a volume.
fn check_files(source: &Node, faults: &mut Vec<Fault>) {
    let mode_of = |node: &Node, key: &str, faults: &mut Vec<Fault>| {
        let Some((node, mode)) = field(node, key).and_then(|node| Some((node, integer(node)?))) else { return };
        if !(0..=MAX_MODE).contains(&mode) {
            let message = format!("has a volume with the mode {}, which is not between 0 and 0777", node.span().text());
            faults.push(Fault::new(node, message, "write the octal number with a leading zero, such as `0755`"));
        }
    };
    mode_of(source, "defaultMode", faults);
    for item in items(source, "items") {
        mode_of(item, "mode", faults);
        if let Some((node, path)) = known(item, "path").filter(|(_, path)| leaves(path)) {
            let message = format!("has a volume with the path `{path}`");
            faults.push(Fault::new(node, message, "write a relative path without `..`"));
        }
    }
}

/// Checks the values of a container. `pod` is the pod of the container.
pub(super) fn check_container(pod: &Node, container: &Node, faults: &mut Vec<Fault>) {
    if field(container, "image").is_none_or(|image| image.text() == Some(""))
        && let Some(name) = field(container, "name")
    {
        faults.push(Fault::new(name, "has a container without an image", "set `image`"));
    }
    let is_on_host = field(pod, "hostNetwork").and_then(flag) == Some(true);
    for port in items(container, "ports") {
        let number = |key: &str| field(port, key).and_then(|node| Some((node, integer(node)?)));
        let own = number("containerPort");
        if let Some((node, number)) = own.filter(|(_, number)| !(1..=MAX_PORT).contains(number)) {
            let message = format!("has the invalid container port {number}");
            faults.push(Fault::new(node, message, "write a number from 1 to 65535"));
        }
        if let Some(((_, own), (node, on_host))) = own.zip(number("hostPort")).filter(|_| is_on_host)
            && ![0, own].contains(&on_host)
        {
            let message =
                format!("has the host port {on_host} for the container port {own} on the network of the host");
            faults.push(Fault::new(node, message, "write the same number, or remove `hostPort`"));
        }
    }
    let mut mounted: BTreeSet<&str> = BTreeSet::new();
    for mount in items(container, "volumeMounts") {
        if let Some((node, path)) = known(mount, "mountPath").filter(|(_, path)| !mounted.insert(path)) {
            let message = format!("mounts two volumes of a container at `{path}`");
            faults.push(Fault::new(node, message, "mount one of them at another path"));
        }
        if let Some((node, path)) = known(mount, "subPath").filter(|(_, path)| leaves(path)) {
            let message = format!("mounts the `subPath` `{path}`");
            faults.push(Fault::new(node, message, "write a relative path without `..`"));
        }
    }
    check_environment(container, faults);
    if let Some(context) = field(container, "securityContext") {
        check_security(context, faults);
        check_permissions(context, faults);
    }
}

/// The fields of a pod that a variable can read.
const POD_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// Checks the sources of the variables of a container.
fn check_environment(container: &Node, faults: &mut Vec<Fault>) {
    for source in items(container, "envFrom").iter().filter(|source| source.is_map()) {
        let is_set = |key: &str| field(source, key).is_some();
        let is_open =
            source.entries().iter().any(|entry| !matches!(&*entry.key, "configMapRef" | "secretRef" | "prefix"));
        if !is_open && !is_set("configMapRef") && !is_set("secretRef") {
            let message = "has an entry of `envFrom` without a ConfigMap or a Secret";
            faults.push(Fault::new(source, message, "set `configMapRef` or `secretRef`"));
        }
    }
    for variable in items(container, "env") {
        let Some((node, path)) = variable.at_keys(&["valueFrom", "fieldRef"]).and_then(|one| known(one, "fieldPath"))
        else {
            continue;
        };
        let has_key = ["metadata.labels[", "metadata.annotations["].iter().any(|start| path.starts_with(start));
        if !has_key && path != "spec.host" && !POD_FIELDS.contains(&path) {
            let message = format!("has a variable with the field `{path}`, which variables cannot read");
            faults.push(Fault::new(node, message, format!("write one of `{}`", POD_FIELDS.join("`, `"))));
        }
    }
}

/// Checks that a container does not exclude the permissions that it has.
fn check_permissions(context: &Node, faults: &mut Vec<Fault>) {
    let is = |key: &str, value: bool| field(context, key).and_then(flag) == Some(value);
    let Some(node) = field(context, "allowPrivilegeEscalation").filter(|_| is("allowPrivilegeEscalation", false))
    else {
        return;
    };
    let added = field(context, "capabilities").map_or(&[][..], |all| items(all, "add"));
    let cause = if is("privileged", true) {
        "`privileged: true`"
    } else if added.iter().any(|one| one.text() == Some("CAP_SYS_ADMIN")) {
        "the capability `CAP_SYS_ADMIN`"
    } else {
        return;
    };
    let message = format!("has a container with `allowPrivilegeEscalation: false` and {cause}");
    faults.push(Fault::new(node, message, "remove one of them"));
}

/// Returns whether a path leaves its directory.
fn leaves(path: &str) -> bool {
    path.starts_with('/') || path.split('/').any(|segment| segment == "..")
}
