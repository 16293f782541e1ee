//! The addresses of Endpoints and their slices.

use core::net::IpAddr;

use super::fault::{Fault, field, items, text};
use super::pod_settings::address;
use crate::kube::Object;
use crate::lint::fields::known_text;
use crate::yaml::Node;

/// Source: `ValidateEndpointIP` of `k8s.io/kubernetes/pkg/apis/core/validation`.
pub(super) fn endpoints(object: &Object, faults: &mut Vec<Fault>) {
    for subset in items(&object.node, "subsets") {
        let all = items(subset, "addresses").iter().chain(items(subset, "notReadyAddresses"));
        for node in all.filter_map(|one| field(one, "ip")) {
            faults.extend(fault(node, |_| true));
        }
    }
}

/// Source: `ValidateEndpointSlice` of `k8s.io/kubernetes/pkg/apis/discovery/validation`.
pub(super) fn slice(object: &Object, faults: &mut Vec<Fault>) {
    let is_of_type: fn(&IpAddr) -> bool = match text(&object.node, "addressType") {
        Some("IPv4") => IpAddr::is_ipv4,
        Some("IPv6") => IpAddr::is_ipv6,
        _ => return,
    };
    for node in items(&object.node, "endpoints").iter().flat_map(|endpoint| items(endpoint, "addresses")) {
        faults.extend(fault(node, is_of_type));
    }
}

fn fault(node: &Node, is_of_type: impl Fn(&IpAddr) -> bool) -> Option<Fault> {
    let text = known_text(node)?;
    let (what, remedy) = match address(text) {
        None => {
            ("which is no IP address", "write an IP address; a Service of type `ExternalName` has the name of a host")
        }
        Some(ip) if !is_of_type(&ip) => {
            ("which is not of the type of the slice", "correct `addressType` or the address")
        }
        Some(ip) if is_local(&ip) => ("which no other host reaches", "write the address of a host"),
        Some(_) => return None,
    };
    Some(Fault::new(node, format!("has the address `{text}`, {what}"), remedy))
}

/// Returns whether an address is unspecified, loopback or link-local.
fn is_local(ip: &IpAddr) -> bool {
    let is_link_local = match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    ip.is_unspecified() || ip.is_loopback() || is_link_local
}
