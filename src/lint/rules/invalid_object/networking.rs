//! Ingresses and NetworkPolicies.
//!
//! Source: `k8s.io/kubernetes/pkg/apis/networking/validation`.

use core::net::{IpAddr, Ipv4Addr};

use super::fault::{Fault, MAX_PORT, field, integer, is_unknown, items, known, text};
use super::ports::port_name_fault;
use crate::api::validate::{is_dns_label, is_dns_subdomain};
use crate::kube::Object;
use crate::lint::fields::known_text;
use crate::yaml::Node;

pub(super) fn ingress(object: &Object, faults: &mut Vec<Fault>) {
    let Some(spec) = object.node.get("spec").filter(|spec| spec.is_map()) else { return };
    if !object.api_version().ends_with("/v1") {
        return;
    }
    if let Some(backend) = field(spec, "defaultBackend") {
        check_backend(backend, faults);
    }
    for tls in items(spec, "tls") {
        for host in items(tls, "hosts") {
            check_host(host, faults);
        }
        if let Some((node, name)) = known(tls, "secretName").filter(|(_, name)| !is_dns_subdomain(name)) {
            let message = format!("references a Secret with the invalid name `{name}`");
            faults.push(Fault::new(node, message, "write the name of a Secret"));
        }
    }
    let rules = field(spec, "rules");
    let has_rules = rules.is_some_and(|rules| !rules.is_seq() || !rules.items().is_empty());
    if !has_rules && field(spec, "defaultBackend").is_none() {
        faults.push(Fault::new(spec, "has neither `rules` nor `defaultBackend`", "add a rule"));
    }
    for rule in rules.map_or(&[][..], Node::items) {
        if let Some(host) = field(rule, "host") {
            check_host(host, faults);
            if let Some(address) = known_text(host).filter(|text| text.parse::<IpAddr>().is_ok()) {
                let message = format!("has the address `{address}` as the host of a rule");
                faults.push(Fault::new(host, message, "write a name, or remove `host`"));
            }
        }
        for path in field(rule, "http").map_or(&[][..], |http| items(http, "paths")) {
            if let Some(backend) = field(path, "backend") {
                check_backend(backend, faults);
            }
            let kind = text(path, "pathType");
            let (at, value) = match field(path, "path") {
                Some(node) if node.text() == Some("") => (node, ""),
                Some(node) => match known_text(node) {
                    Some(value) => (node, value),
                    None => continue,
                },
                None => (path, ""),
            };
            let is_strict = matches!(kind, Some("Prefix" | "Exact"));
            let is_loose = kind == Some("ImplementationSpecific") && !value.is_empty();
            if (is_strict || is_loose) && !value.starts_with('/') {
                let message = match value {
                    "" => "has a rule without a path".to_owned(),
                    _ => format!("has a path `{value}`, which does not start with `/`"),
                };
                faults.push(Fault::new(at, message, "write an absolute path"));
            } else if let Some(part) = invalid_part(value).filter(|_| is_strict) {
                let message = format!("has a path `{value}`, which contains `{part}`");
                faults.push(Fault::new(at, message, "write the path without it"));
            }
        }
    }
}

/// Checks a host, which may begin with `*.`.
fn check_host(host: &Node, faults: &mut Vec<Fault>) {
    let Some(name) = known_text(host) else { return };
    if is_dns_subdomain(name.strip_prefix("*.").unwrap_or(name)) {
        return;
    }
    let remedy = if name.contains("://") {
        "write the host only, without the scheme"
    } else if name.contains(':') {
        "write the host only, without the port"
    } else if name.contains('*') {
        "write `*.` in front of the host"
    } else {
        "write a DNS name in lowercase letters"
    };
    faults.push(Fault::new(host, format!("has the invalid host `{name}`"), remedy));
}

/// The part of a path that the API server rejects.
fn invalid_part(path: &str) -> Option<&'static str> {
    let parts = ["//", "/./", "/../", "%2f", "%2F"];
    let ends = ["/..", "/."];
    let inside = parts.into_iter().find(|part| path.contains(part));
    inside.or_else(|| ends.into_iter().find(|end| path.ends_with(end)))
}

/// Checks the backend of an Ingress.
fn check_backend(backend: &Node, faults: &mut Vec<Fault>) {
    if !backend.is_map() || is_unknown(backend) {
        return;
    }
    let (service, resource) = (field(backend, "service"), field(backend, "resource"));
    let service = match (service, resource) {
        (Some(service), None) => service,
        (Some(_), Some(resource)) => {
            let message = "has a backend with `service` and `resource`";
            faults.push(Fault::new(resource, message, "remove one of them; in a patch, set it to null"));
            return;
        }
        (None, Some(_)) => return,
        (None, None) => {
            faults.push(Fault::new(backend, "has a backend without a Service", "set `service`"));
            return;
        }
    };
    if let Some((node, name)) = known(service, "name").filter(|(_, name)| !is_dns_label(name)) {
        let message = format!("has a backend with the invalid Service name `{name}`");
        faults.push(Fault::new(node, message, "write the name of a Service"));
    }
    let port = field(service, "port");
    let of_port =
        |key: &str| port.and_then(|port| field(port, key)).filter(|node| !matches!(node.text(), Some("" | "0")));
    match (of_port("name"), of_port("number")) {
        (Some(_), Some(number)) => {
            let message = "has a backend with both the name and the number of a port";
            faults.push(Fault::new(number, message, "remove one of them; in a patch, set it to null"));
        }
        (None, None) => {
            let message = "has a backend without a port";
            faults.push(Fault::new(port.unwrap_or(service), message, "set `port.number` or `port.name`"));
        }
        (Some(name), None) => check_port_name(name, faults),
        (None, Some(number)) => check_port_number(number, faults),
    }
}

fn check_port_name(node: &Node, faults: &mut Vec<Fault>) {
    let Some(name) = known_text(node) else { return };
    let Some(why) = port_name_fault(name) else { return };
    let remedy = if name.bytes().all(|byte| byte.is_ascii_digit()) {
        "write the number without quotes"
    } else {
        "write at most 15 lowercase letters, digits and hyphens"
    };
    faults.push(Fault::new(node, format!("has a port with the invalid name `{name}`: {why}"), remedy));
}

fn check_port_number(node: &Node, faults: &mut Vec<Fault>) {
    if let Some(port) = integer(node).filter(|port| !(1..=MAX_PORT).contains(port)) {
        faults.push(Fault::new(node, format!("has the invalid port {port}"), "write a number from 1 to 65535"));
    }
}

/// Checks the peers and ports of a NetworkPolicy.
pub(super) fn network_policy(object: &Object, faults: &mut Vec<Fault>) {
    let Some(spec) = object.node.get("spec") else { return };
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in items(spec, rules) {
            for peer in items(rule, peers) {
                check_peer(peer, faults);
            }
            for port in items(rule, "ports") {
                check_port(port, faults);
            }
        }
    }
}

fn check_peer(peer: &Node, faults: &mut Vec<Fault>) {
    let selectors = ["podSelector", "namespaceSelector"];
    let selector = selectors.iter().find_map(|key| field(peer, key));
    match (field(peer, "ipBlock"), selector) {
        (Some(block), None) => check_block(block, faults),
        (Some(block), Some(_)) => {
            let message = "has a peer with `ipBlock` and a selector";
            faults.push(Fault::new(block, message, "write them as two peers, each with its own hyphen"));
        }
        (None, Some(_)) => {}
        (None, None) if !peer.is_map() || is_unknown(peer) => {}
        (None, None) => {
            // Without its indentation, the content of a block is beside the block.
            let lost = ["cidr", "except", "matchLabels", "matchExpressions"];
            let Some(entry) = lost.iter().find_map(|key| peer.entry(key)) else {
                let message = "has a peer without `ipBlock`, `podSelector` and `namespaceSelector`";
                faults.push(Fault::new(peer, message, "set one of them, or remove the peer"));
                return;
            };
            let message = format!("has an empty peer, since `{}` is beside the field that contains it", entry.key);
            faults.push(Fault { at: entry.key_span(), message, remedy: "indent it".to_owned() });
        }
    }
}

fn check_block(block: &Node, faults: &mut Vec<Fault>) {
    let Some((node, text)) = known(block, "cidr") else {
        if block.is_map() && !is_unknown(block) {
            faults.push(Fault::new(block, "has an `ipBlock` without `cidr`", "set `cidr`"));
        }
        return;
    };
    let Some(network) = Network::parse(text) else {
        let message = format!("has the invalid network `{text}`");
        let remedy = match text.parse::<IpAddr>() {
            Ok(IpAddr::V4(_)) => format!("write `{text}/32` for a single address"),
            Ok(IpAddr::V6(_)) => format!("write `{text}/128` for a single address"),
            Err(_) => "write an address and the length of the prefix, such as `10.0.0.0/16`".to_owned(),
        };
        faults.push(Fault::new(node, message, remedy));
        return;
    };
    for node in items(block, "except") {
        let Some(except) = known_text(node) else { continue };
        match Network::parse(except) {
            None => {
                let message = format!("has the invalid network `{except}` in `except`");
                let remedy = "write an address and the length of the prefix, such as `10.0.0.0/16`";
                faults.push(Fault::new(node, message, remedy));
            }
            Some(inner) if !network.contains(&inner) => {
                let message = format!("excludes `{except}`, which is not a smaller part of `{text}`");
                faults.push(Fault::new(node, message, "write a part of `cidr`"));
            }
            Some(_) => {}
        }
    }
}

fn check_port(port: &Node, faults: &mut Vec<Fault>) {
    let (number, end) = (field(port, "port"), field(port, "endPort"));
    if number.is_some_and(is_unknown) {
        return;
    }
    let value = number.and_then(integer);
    match number {
        Some(node) if value.is_some() => check_port_number(node, faults),
        Some(node) => check_port_name(node, faults),
        None => {}
    }
    let Some(end) = end else { return };
    let Some(last) = integer(end) else { return };
    let message = match value {
        None => "has an `endPort` without a numeric `port`".to_owned(),
        Some(first) if last < first => format!("has `endPort: {last}`, which is less than `port: {first}`"),
        Some(_) => return check_port_number(end, faults),
    };
    faults.push(Fault::new(end, message, "correct one of them"));
}

/// A network, as the API server reads the networks of a NetworkPolicy: with zeros in front of numbers.
struct Network {
    address: IpAddr,
    prefix: u32,
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/')?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let prefix: u32 = prefix.parse().ok().filter(|_| is_number(prefix))?;
        let octet = |text: &str| text.parse::<u8>().ok().filter(|_| is_number(text));
        let address = if let Ok(address) = address.parse::<IpAddr>() {
            address
        } else {
            let octets: Vec<u8> = address.split('.').map(octet).collect::<Option<_>>()?;
            IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(octets).ok()?))
        };
        (prefix <= if address.is_ipv4() { 32 } else { 128 }).then_some(Self { address, prefix })
    }

    /// Returns whether a network is a part of this one, and smaller.
    fn contains(&self, other: &Self) -> bool {
        let bits = |address: IpAddr| match address {
            IpAddr::V4(address) => (u128::from(u32::from(address)), 32),
            IpAddr::V6(address) => (u128::from(address), 128),
        };
        let ((own, width), (inner, _)) = (bits(self.address), bits(other.address));
        let differ = (own ^ inner).checked_shr(width - self.prefix).unwrap_or_default();
        self.address.is_ipv4() == other.address.is_ipv4() && differ == 0 && self.prefix < other.prefix
    }
}

#[cfg(test)]
mod tests {
    use super::Network;

    #[test]
    fn networks_are_read_as_by_the_api_server() {
        for valid in
            ["10.0.0.0/8", "10.0.0.3/16", "010.0.0.1/8", "0.0.0.0/0", "::/0", "fd00::/8", "::ffff:10.0.0.1/120"]
        {
            assert!(Network::parse(valid).is_some(), "{valid}");
        }
        for invalid in
            ["10.0.0.3", "10.0.0.300/16", "10.0.0/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/+8", "fd00::/129", "a/8"]
        {
            assert!(Network::parse(invalid).is_none(), "{invalid}");
        }
    }

    #[test]
    fn an_exception_is_a_smaller_part() {
        let contains = |one: &str, other: &str| {
            Network::parse(one).zip(Network::parse(other)).is_some_and(|(one, other)| one.contains(&other))
        };
        assert!(contains("10.0.0.0/8", "10.1.0.0/16") && contains("0.0.0.0/0", "10.0.0.0/8"));
        assert!(contains("::/0", "fd00::/8"));
        assert!(!contains("10.0.0.0/8", "10.0.0.0/8") && !contains("10.0.0.0/8", "11.0.0.0/16"));
        assert!(!contains("0.0.0.0/0", "fd00::/8"));
    }
}
