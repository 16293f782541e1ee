//! Services: the fields that depend on the type, and their addresses.

use super::fault::{Fault, field, is_unknown, items, text};
use super::pod_settings::{address, is_network};
use super::ports::port_name_fault;
use crate::lint::fields::known_text;
use crate::yaml::Node;

/// Checks the fields of a Service. `kind` is its type, if it is known.
///
/// Source: `ValidateService` of `k8s.io/kubernetes/pkg/apis/core/validation`.
pub(super) fn check(spec: &Node, kind: Option<&str>, faults: &mut Vec<Fault>) {
    for node in items(spec, "externalIPs") {
        if let Some(text) = known_text(node).filter(|text| address(text).is_none()) {
            let message = format!("has the invalid external address `{text}`");
            faults.push(Fault::new(node, message, "write an IP address"));
        }
    }
    for node in items(spec, "ports").iter().filter_map(|port| field(port, "targetPort")) {
        let name = known_text(node).filter(|text| !text.bytes().all(|byte| byte.is_ascii_digit()));
        if let Some((name, why)) = name.and_then(|name| Some((name, port_name_fault(name)?))) {
            let message = format!("has the invalid target port `{name}`: {why}");
            faults.push(Fault::new(node, message, "write the name of a port of its pods"));
        }
    }
    if let Some(ranges) = field(spec, "loadBalancerSourceRanges").filter(|ranges| !ranges.items().is_empty()) {
        if let Some(kind) = kind.filter(|kind| matches!(*kind, "ClusterIP" | "NodePort" | "ExternalName")) {
            let message = format!("has `loadBalancerSourceRanges`, but its type is `{kind}`");
            faults.push(Fault::new(ranges, message, "remove them, or write `type: LoadBalancer`"));
        }
        for node in ranges.items() {
            if let Some(text) = known_text(node).filter(|text| !is_network(text.trim())) {
                let message = format!("has the invalid source range `{text}`");
                faults.push(Fault::new(node, message, "write a network, such as `10.0.0.0/24`"));
            }
        }
    }
    let has_config = field(spec, "sessionAffinityConfig");
    let is_none = field(spec, "sessionAffinity").is_none() || text(spec, "sessionAffinity") == Some("None");
    if let Some(config) = has_config.filter(|_| is_none) {
        let message = "has `sessionAffinityConfig` without `sessionAffinity: ClientIP`";
        faults.push(Fault::new(config, message, "remove it, or write `sessionAffinity: ClientIP`"));
    }
    let has_addresses = field(spec, "externalIPs").is_some_and(|all| is_unknown(all) || !all.items().is_empty());
    if let Some(policy) = field(spec, "externalTrafficPolicy").filter(|_| kind == Some("ClusterIP") && !has_addresses) {
        let message = "has `externalTrafficPolicy`, but its type is `ClusterIP`";
        faults.push(Fault::new(policy, message, "remove it, or write `type: LoadBalancer` or `type: NodePort`"));
    }
}
