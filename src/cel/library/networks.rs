//! Addresses of hosts and networks.

use core::net::IpAddr;

use super::arguments::text;
use super::function::{ALWAYS, Function};
use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::notation::{Cidr, parse_ip};
use crate::cel::value::Value;

const TEST: &[&str] = &["ip.() bool"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("ip", ALWAYS, &["(string) ip", "cidr.() ip"], |arguments, budget| match arguments {
        [Value::Cidr(network)] => Ok(Value::Ip(network.address)),
        _ => read_ip(arguments, 0, budget).map(Value::Ip),
    }),
    Function::new("isIP", ALWAYS, &["(string) bool"], |arguments, budget| {
        Ok(Value::Bool(parse_ip(text(arguments, 0, budget)?).is_ok()))
    }),
    Function::new("ip.isCanonical", ALWAYS, &["(string) bool"], |arguments, budget| {
        let address = read_ip(arguments, 0, budget)?;
        Ok(Value::Bool(address.to_string() == text(arguments, 0, budget)?))
    }),
    Function::new("family", ALWAYS, &["ip.() int"], |arguments, _| {
        ip(arguments).map(|address| Value::Int(if address.is_ipv4() { 4 } else { 6 }))
    }),
    Function::new("isUnspecified", ALWAYS, TEST, |arguments, _| {
        ip(arguments).map(|address| Value::Bool(address.is_unspecified()))
    }),
    Function::new("isLoopback", ALWAYS, TEST, |arguments, _| {
        ip(arguments).map(|address| Value::Bool(address.is_loopback()))
    }),
    Function::new("isLinkLocalMulticast", ALWAYS, TEST, |arguments, _| {
        ip(arguments).map(|address| {
            Value::Bool(match address {
                IpAddr::V4(address) => address.octets().starts_with(&[224, 0, 0]),
                IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
            })
        })
    }),
    Function::new("isLinkLocalUnicast", ALWAYS, TEST, |arguments, _| {
        ip(arguments).map(|address| Value::Bool(is_link_local(address)))
    }),
    Function::new("isGlobalUnicast", ALWAYS, TEST, |arguments, _| {
        ip(arguments).map(|address| {
            let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
            let is_special = address.is_unspecified() || address.is_loopback() || address.is_multicast();
            Value::Bool(!is_special && !is_link_local(address) && !is_broadcast)
        })
    }),
    Function::new("cidr", ALWAYS, &["(string) cidr"], |arguments, budget| {
        read_cidr(arguments, 0, budget).map(Value::Cidr)
    }),
    Function::new("isCIDR", ALWAYS, &["(string) bool"], |arguments, budget| {
        Ok(Value::Bool(Cidr::parse(text(arguments, 0, budget)?).is_ok()))
    }),
    Function::new("containsIP", ALWAYS, &["cidr.(string) bool", "cidr.(ip) bool"], |arguments, budget| {
        let address = match arguments.get(1) {
            Some(Value::Ip(address)) => *address,
            _ => read_ip(arguments, 1, budget)?,
        };
        cidr(arguments).map(|network| Value::Bool(network.contains(address)))
    }),
    Function::new("containsCIDR", ALWAYS, &["cidr.(string) bool", "cidr.(cidr) bool"], |arguments, budget| {
        let other = match arguments.get(1) {
            Some(Value::Cidr(network)) => *network,
            _ => read_cidr(arguments, 1, budget)?,
        };
        cidr(arguments).map(|network| Value::Bool(network.contains_network(other)))
    }),
    Function::new("prefixLength", ALWAYS, &["cidr.() int"], |arguments, _| {
        cidr(arguments).map(|network| Value::Int(network.prefix.into()))
    }),
    Function::new("masked", ALWAYS, &["cidr.() cidr"], |arguments, _| {
        cidr(arguments).map(|network| Value::Cidr(network.masked()))
    }),
];

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

fn ip(arguments: &[Value]) -> Result<IpAddr, Failure> {
    match arguments {
        [Value::Ip(address)] => Ok(*address),
        _ => Err(Failure::no_overload()),
    }
}

fn cidr(arguments: &[Value]) -> Result<Cidr, Failure> {
    match arguments.first() {
        Some(Value::Cidr(network)) => Ok(*network),
        _ => Err(Failure::no_overload()),
    }
}

fn read_ip(arguments: &[Value], at: usize, budget: &mut Budget) -> Result<IpAddr, Failure> {
    parse_ip(text(arguments, at, budget)?).map_err(Failure::error)
}

fn read_cidr(arguments: &[Value], at: usize, budget: &mut Budget) -> Result<Cidr, Failure> {
    let read = Cidr::parse(text(arguments, at, budget)?);
    read.map_err(|why| Failure::error(format!("network address parse error during conversion from string: {why}")))
}
