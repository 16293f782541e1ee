//! Settings of pods: DNS, hosts, security, affinities of nodes, spread, and the runtime.

use core::net::IpAddr;

use super::fault::{Fault, field, integer, is_unknown, items, known, list};
use crate::api::validate::is_dns_subdomain;
use crate::lint::fields::known_text;
use crate::yaml::Node;

/// Checks the settings of a pod outside of its containers and volumes.
///
/// Source: `ValidatePodSpec` of `k8s.io/kubernetes/pkg/apis/core/validation`.
pub(super) fn check(pod: &Node, faults: &mut Vec<Fault>) {
    check_names(pod, faults);
    if let Some(context) = field(pod, "securityContext") {
        check_security(context, faults);
        for (node, name) in items(context, "sysctls").iter().filter_map(|one| known(one, "name")) {
            let is_valid = |byte: u8| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'/' | b'_' | b'-')
            };
            if !name.bytes().all(is_valid) {
                faults.push(Fault::new(node, format!("has the invalid sysctl `{name}`"), "correct the name"));
            }
        }
    }
    if let Some((node, name)) = known(pod, "runtimeClassName").filter(|(_, name)| !is_dns_subdomain(name)) {
        let message = format!("has the invalid `runtimeClassName: {name}`");
        faults.push(Fault::new(node, message, "write the name of a RuntimeClass"));
    }
    check_nodes(pod, faults);
    for constraint in items(pod, "topologySpreadConstraints") {
        let skew = field(constraint, "maxSkew").and_then(|node| Some((node, integer(node)?)));
        if let Some((node, skew)) = skew.filter(|(_, skew)| *skew < 1) {
            let message = format!("has a constraint of its spread with `maxSkew: {skew}`");
            faults.push(Fault::new(node, message, "write a number of at least 1"));
        }
    }
}

/// Checks the addresses of name servers and hosts.
fn check_names(pod: &Node, faults: &mut Vec<Fault>) {
    let config = field(pod, "dnsConfig");
    let servers = config.and_then(|config| list(config, "nameservers"));
    let has_none = match config {
        Some(config) => !is_unknown(config) && servers.is_some_and(<[Node]>::is_empty),
        None => true,
    };
    if let Some((node, _)) = known(pod, "dnsPolicy").filter(|(_, policy)| *policy == "None" && has_none) {
        let message = "has `dnsPolicy: None`, but no name server";
        faults.push(Fault::new(node, message, "set `dnsConfig.nameservers`"));
    }
    let aliases = items(pod, "hostAliases").iter().filter_map(|alias| field(alias, "ip"));
    for node in servers.unwrap_or_default().iter().chain(aliases) {
        if let Some(text) = known_text(node).filter(|text| address(text).is_none()) {
            let message = format!("has the invalid address `{text}`");
            faults.push(Fault::new(node, message, "write an IP address"));
        }
    }
}

/// Checks the security context of a pod or of a container.
pub(super) fn check_security(context: &Node, faults: &mut Vec<Fault>) {
    for key in ["runAsUser", "runAsGroup", "fsGroup"] {
        let id = field(context, key).and_then(|node| Some((node, integer(node)?)));
        if let Some((node, id)) = id.filter(|(_, id)| *id < 0) {
            faults.push(Fault::new(node, format!("has `{key}: {id}`"), "write a number of at least 0"));
        }
    }
    let Some(profile) = field(context, "seccompProfile") else { return };
    let path = field(profile, "localhostProfile").filter(|path| path.text() != Some(""));
    match known(profile, "type") {
        Some((node, "Localhost")) if path.is_none() => {
            let message = "has a seccomp profile of type `Localhost` without `localhostProfile`";
            faults.push(Fault::new(node, message, "set `localhostProfile`"));
        }
        Some((_, kind)) if kind != "Localhost" => {
            if let Some(path) = path {
                let message = format!("has a seccomp profile of type `{kind}` with `localhostProfile`");
                faults.push(Fault::new(path, message, "remove it, or write `type: Localhost`"));
            }
        }
        _ => {}
    }
}

/// Checks the requirements that a pod has for its nodes.
fn check_nodes(pod: &Node, faults: &mut Vec<Fault>) {
    let Some(affinity) = pod.at_keys(&["affinity", "nodeAffinity"]) else { return };
    let required = field(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
    let required = required.map_or(&[][..], |required| items(required, "nodeSelectorTerms")).iter();
    let preferred = items(affinity, "preferredDuringSchedulingIgnoredDuringExecution").iter();
    let preferred = preferred.filter_map(|term| field(term, "preference"));
    for requirement in required.chain(preferred).flat_map(|term| items(term, "matchExpressions")) {
        let Some(((node, operator), values)) = known(requirement, "operator").zip(list(requirement, "values")) else {
            continue;
        };
        let (is_wrong, what) = match operator {
            "In" | "NotIn" => (values.is_empty(), "without values"),
            "Exists" | "DoesNotExist" => (!values.is_empty(), "with values"),
            "Gt" | "Lt" => (values.len() != 1, "without exactly one value"),
            _ => continue,
        };
        if is_wrong {
            let message = format!("has an affinity to nodes with the operator `{operator}` {what}");
            faults.push(Fault::new(node, message, "correct the operator or the values"));
        }
    }
}

/// The IP address of a text. Kubernetes ignores leading zeros.
pub(super) fn address(text: &str) -> Option<IpAddr> {
    text.parse().ok().or_else(|| {
        let parts = text.split('.').map(|part| match part.trim_start_matches('0') {
            "" if !part.is_empty() => "0",
            rest => rest,
        });
        parts.collect::<Vec<_>>().join(".").parse().ok()
    })
}

/// Returns whether a text is an IP address with the length of a prefix.
pub(super) fn is_network(text: &str) -> bool {
    text.split_once('/').is_some_and(|(ip, length)| {
        let max = address(ip).map(|ip| if ip.is_ipv4() { 32 } else { 128 });
        let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
        max.is_some_and(|max| is_number && length.parse::<u8>().is_ok_and(|length| length <= max))
    })
}
