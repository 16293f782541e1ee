//! Network policies and Ingresses.
//!
//! Source: `ValidateNetworkPolicyPeer`, `ValidateIPBlock`, `ValidateNetworkPolicyPort`, `validateIngressRules`,
//! `validateIngressBackend` and `validateIngressTLS` of Kubernetes.

use super::fault::{Fault, field, is_unknown, items, text};
use super::pods::port_name_fault;
use crate::cel::Cidr;
use crate::kube::Object;
use crate::kube::selector::is_subdomain;
use crate::lint::fields::known_text;
use crate::yaml::Node;

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
    if !peer.is_map() {
        return;
    }
    let selectors = ["podSelector", "namespaceSelector"].map(|key| field(peer, key));
    match (field(peer, "ipBlock"), selectors.iter().flatten().next()) {
        (None, None) if is_unknown(peer) => {}
        (None, None) => {
            let misplaced = ["cidr", "except"].iter().find_map(|key| peer.entry(key));
            let (at, remedy) = match misplaced.filter(|_| peer.get("ipBlock").is_some()) {
                Some(entry) => (entry.key_span(), "indent `cidr` further, so that it is below `ipBlock`"),
                None => (
                    peer.span().clone(),
                    "set `podSelector`, `namespaceSelector` or `ipBlock`; `podSelector: {}` selects all pods",
                ),
            };
            let message = "has a peer without a selector or an address".to_owned();
            faults.push(Fault { at, message, remedy: remedy.to_owned() });
        }
        (Some(block), Some(_)) => {
            let message = "has a peer with both an `ipBlock` and a selector";
            faults.push(Fault::new(block, message, "write two items of the list"));
        }
        (Some(block), None) => check_block(block, faults),
        (None, Some(_)) => {}
    }
}

fn check_block(block: &Node, faults: &mut Vec<Fault>) {
    let Some((node, written)) = field(block, "cidr").and_then(|node| Some((node, known_text(node)?))) else { return };
    let invalid = |node: &Node, text: &str| {
        let message = format!("has an invalid range of addresses: `{text}`");
        Fault::new(node, message, "write an address and the length of its prefix, such as `10.0.0.0/16`")
    };
    let range = match read_range(written) {
        Range::Known(range) => range,
        Range::Unusual => return,
        Range::Invalid => return faults.push(invalid(node, written)),
    };
    for node in items(block, "except") {
        let Some(text) = known_text(node) else { continue };
        match read_range(text) {
            Range::Invalid => faults.push(invalid(node, text)),
            Range::Known(except) if !range.contains(except.address) || range.prefix >= except.prefix => {
                let message = format!("excepts `{text}`, which is not a smaller part of `{written}`");
                faults.push(Fault::new(node, message, "remove it, or correct one of the ranges"));
            }
            Range::Known(_) | Range::Unusual => {}
        }
    }
}

/// A range of addresses.
enum Range {
    Known(Cidr),
    /// A notation that the API server accepts only in the fields of old kinds.
    Unusual,
    Invalid,
}

/// Reads a range as the API server reads the fields of old kinds: it accepts zeros before a number.
fn read_range(text: &str) -> Range {
    if let Ok(range) = Cidr::parse(text) {
        return Range::Known(range);
    }
    if text.contains(':') && text.contains('.') {
        return Range::Unusual;
    }
    let numbers = text.split(['.', '/']).map(|number| match number.trim_start_matches('0') {
        "" if !number.is_empty() => "0",
        number => number,
    });
    let numbers: Vec<&str> = numbers.collect();
    let plain = match numbers.as_slice() {
        [a, b, c, d, prefix] => format!("{a}.{b}.{c}.{d}/{prefix}"),
        _ => return Range::Invalid,
    };
    Cidr::parse(&plain).map_or(Range::Invalid, Range::Known)
}

fn check_port(port: &Node, faults: &mut Vec<Fault>) {
    let number = |node: &Node| known_text(node).and_then(|text| text.parse::<i64>().ok());
    let (node, end) = (field(port, "port"), field(port, "endPort"));
    for node in node.into_iter().chain(end) {
        if let Some(number) = number(node).filter(|number| !(1..=65535).contains(number)) {
            faults.push(Fault::new(node, format!("has an invalid port {number}"), "write a number from 1 to 65535"));
        }
    }
    let Some(end) = end else { return };
    match node {
        None => {
            let message = "has an `endPort` without a `port`";
            faults.push(Fault::new(end, message, "set `port` to the first port of the range"));
        }
        Some(node) => match (number(node), number(end)) {
            (Some(first), Some(last)) if last < first => {
                let message = format!("has `endPort: {last}`, which is less than `port: {first}`");
                faults.push(Fault::new(end, message, "correct one of them"));
            }
            (None, _) if known_text(node).is_some() => {
                let message = "has an `endPort` beside a `port` with a name";
                faults.push(Fault::new(end, message, "write the number of the first port"));
            }
            _ => {}
        },
    }
}

pub(super) fn ingress(object: &Object, faults: &mut Vec<Fault>) {
    let Some(spec) = object.node.get("spec").filter(|spec| spec.is_map()) else { return };
    if !object.api_version().ends_with("/v1") {
        return;
    }
    let rules = field(spec, "rules");
    let has_rules = rules.is_some_and(|rules| !rules.is_seq() || !rules.items().is_empty());
    let default = field(spec, "defaultBackend");
    if !has_rules && default.is_none() {
        faults.push(Fault::new(spec, "has neither `rules` nor `defaultBackend`", "add a rule"));
    }
    if let Some(backend) = default {
        check_backend(backend, faults);
    }
    for rule in rules.map_or(&[][..], Node::items) {
        if let Some(host) = field(rule, "host") {
            check_host(host, faults);
        }
        for path in field(rule, "http").map_or(&[][..], |http| items(http, "paths")) {
            check_path(path, faults);
            if let Some(backend) = field(path, "backend") {
                check_backend(backend, faults);
            }
        }
    }
    for tls in items(spec, "tls") {
        for host in items(tls, "hosts") {
            check_host(host, faults);
        }
        let Some((node, name)) = field(tls, "secretName").and_then(|node| Some((node, known_text(node)?))) else {
            continue;
        };
        if !is_subdomain(name) {
            let message = format!("has the invalid name `{name}` of a Secret");
            faults.push(Fault::new(node, message, "write lowercase letters, digits, hyphens and dots"));
        }
    }
}

fn check_host(node: &Node, faults: &mut Vec<Fault>) {
    let Some(host) = known_text(node) else { return };
    let is_number = |part: &str| part.parse::<u8>().is_ok();
    let is_address = host.split('.').count() == 4 && host.split('.').all(is_number);
    let name = if host.contains('*') { host.strip_prefix("*.").unwrap_or_default() } else { host };
    if is_subdomain(name) && !is_address {
        return;
    }
    let remedy = match host.split_once("://") {
        Some(_) => "write only the name of the host, without the scheme",
        None if host.contains(':') => "write only the name of the host, without the port",
        None if host.contains('/') => "write only the name of the host, without the path",
        None if is_address => "write the name of a host: the API server accepts no address",
        None => "write a DNS name in lowercase letters; only the first part may be `*`",
    };
    faults.push(Fault::new(node, format!("has an invalid host `{host}`"), remedy));
}

fn check_path(path: &Node, faults: &mut Vec<Fault>) {
    let kind = text(path, "pathType");
    let (at, value) = match field(path, "path") {
        Some(node) if node.text() == Some("") => (node, ""),
        Some(node) => match known_text(node) {
            Some(value) => (node, value),
            None => return,
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
        return faults.push(Fault::new(at, message, "write an absolute path"));
    }
    let inside = ["//", "/./", "/../", "%2f", "%2F"].into_iter().find(|part| value.contains(part));
    let refused = inside.or_else(|| ["/..", "/."].into_iter().find(|part| value.ends_with(part)));
    if let Some(part) = refused.filter(|_| is_strict) {
        let message = format!("has a path `{value}`, which contains `{part}`");
        faults.push(Fault::new(at, message, "write the path without it, or set `pathType: ImplementationSpecific`"));
    }
}

fn check_backend(backend: &Node, faults: &mut Vec<Fault>) {
    if !backend.is_map() || is_unknown(backend) {
        return;
    }
    let (service, resource) = (field(backend, "service"), field(backend, "resource"));
    let Some(service) = service else {
        if resource.is_none() {
            faults.push(Fault::new(backend, "has a backend without a Service", "set `service`"));
        }
        return;
    };
    if let Some(resource) = resource {
        let message = "has a backend with both a `service` and a `resource`";
        return faults.push(Fault::new(resource, message, "remove one of them"));
    }
    if !service.is_map() {
        return;
    }
    let port = field(service, "port");
    let set = |key: &str| port.and_then(|port| field(port, key)).filter(|node| !matches!(node.text(), Some("" | "0")));
    match (set("name"), set("number")) {
        (None, None) if port.is_none_or(Node::is_map) => {
            let message = "has a backend without the port of its Service";
            faults.push(Fault::new(port.unwrap_or(service), message, "set `port.number` or `port.name`"));
        }
        (Some(name), Some(_)) => {
            let message = "has a backend with both the name and the number of a port";
            faults.push(Fault::new(name, message, "remove one of them"));
        }
        (Some(node), None) => {
            if let Some((name, why)) = known_text(node).and_then(|name| Some((name, port_name_fault(name)?))) {
                let message = format!("has a backend with the invalid name `{name}` of a port: {why}");
                faults.push(Fault::new(node, message, "write the name of a port of the Service"));
            }
        }
        _ => {}
    }
}
