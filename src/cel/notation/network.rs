//! Addresses of hosts and networks.

use core::net::IpAddr;
use std::fmt;

/// Reads an address as the API server does; the error states why it rejects the text.
pub(crate) fn parse_ip(text: &str) -> Result<IpAddr, String> {
    if let Some((address, _)) = text.split_once('%')
        && address.contains(':')
    {
        return Err(format!("IP address {text:?} with zone value is not allowed"));
    }
    let address = text
        .parse::<IpAddr>()
        .map_err(|_| format!("IP Address {text:?} parse error during conversion from string: unable to parse IP"))?;
    if is_mapped(address) {
        return Err(format!("IPv4-mapped IPv6 address {text:?} is not allowed"));
    }
    Ok(address)
}

/// Returns whether an address of version 6 contains one of version 4.
fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some())
}

/// A network: an address and the length of its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cidr {
    /// The address as written, which may have bits after the prefix.
    pub address: IpAddr,
    /// The length of the prefix in bits.
    pub prefix: u8,
}

impl Cidr {
    /// Reads a network as the API server does.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fail = || format!("network address parse error during conversion from string: {text:?} is not a network");
        let (address, prefix) = text.rsplit_once('/').ok_or_else(fail)?;
        let address: IpAddr = address.parse().map_err(|_| fail())?;
        let is_number = prefix.bytes().all(|byte| byte.is_ascii_digit()) && (prefix == "0" || !prefix.starts_with('0'));
        let prefix =
            prefix.parse::<u8>().ok().filter(|prefix| is_number && *prefix <= width(address)).ok_or_else(fail)?;
        if is_mapped(address) {
            return Err(format!("IPv4-mapped IPv6 address {text:?} is not allowed"));
        }
        Ok(Self { address, prefix })
    }

    /// The network without the bits after its prefix.
    #[must_use]
    pub fn masked(self) -> Self {
        let masked = bits(self.address) & mask(self.address, self.prefix);
        let address = match self.address {
            IpAddr::V4(_) => IpAddr::V4(u32::try_from(masked).expect("an IPv4 address has 32 bits").into()),
            IpAddr::V6(_) => IpAddr::V6(masked.into()),
        };
        Self { address, prefix: self.prefix }
    }

    /// Returns whether the network contains an address.
    pub fn contains(self, address: IpAddr) -> bool {
        let mask = mask(self.address, self.prefix);
        self.address.is_ipv4() == address.is_ipv4() && bits(self.address) & mask == bits(address) & mask
    }

    /// Returns whether the network contains all addresses of another.
    pub fn contains_network(self, other: Self) -> bool {
        self.prefix <= other.prefix && self.contains(other.address)
    }
}

/// Displays the network: `10.0.0.0/8`.
impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

/// The number of bits of an address.
fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u32::from(address).into(),
        IpAddr::V6(address) => address.into(),
    }
}

/// The bits of a prefix.
fn mask(address: IpAddr, prefix: u8) -> u128 {
    let all = u128::MAX >> (128 - width(address));
    all & !all.checked_shr(prefix.into()).unwrap_or(0)
}
