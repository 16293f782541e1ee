//! Formats of addresses and names in networks.

use core::net::{Ipv4Addr, Ipv6Addr};

use crate::cel::Url;

/// Returns whether a text is an IPv4 address, or an IPv6 address that ends like one.
pub(super) fn is_ipv4(text: &str) -> bool {
    is_plain_ipv4(text) || text.contains('.') && text.parse::<Ipv6Addr>().is_ok()
}

pub(super) fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let limit = if is_plain_ipv4(address) {
        32
    } else if is_ipv6(address) {
        128
    } else {
        return false;
    };
    bits.bytes().all(|byte| byte.is_ascii_digit()) && bits.parse().is_ok_and(|bits: u32| bits <= limit)
}

/// Returns whether a text is an IPv4 address. The API server accepts leading zeros.
fn is_plain_ipv4(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').map(|part| part.trim_start_matches('0')).collect();
    let is_zero = text.split('.').any(str::is_empty);
    let parts = parts.iter().map(|part| if part.is_empty() { "0" } else { part });
    !is_zero && parts.collect::<Vec<_>>().join(".").parse::<Ipv4Addr>().is_ok()
}

/// Returns whether a text is a MAC address of 6, 8 or 20 bytes, in groups of one or two bytes.
pub(super) fn is_mac(text: &str) -> bool {
    let groups = |separator: char, digits: usize| {
        let parts: Vec<&str> = text.split(separator).collect();
        let is_group = |part: &&str| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        matches!(parts.len() * digits / 2, 6 | 8 | 20) && parts.iter().all(is_group)
    };
    groups(':', 2) || groups('-', 2) || groups('.', 4)
}

/// Returns whether a text is a host name: a word without a hyphen, or labels that end with letters only.
pub(super) fn is_hostname(text: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || !c.is_ascii();
    let is_label = |label: &str| {
        label.starts_with(is_inner) && label.ends_with(is_inner) && label.chars().all(|c| is_inner(c) || c == '-')
    };
    if text.len() > 255 || text.split('.').any(|label| label.len() > 63) {
        return false;
    }
    let Some((labels, last)) = text.rsplit_once('.') else {
        let mut rest = text.chars();
        let begins = rest.next().is_some_and(is_inner);
        let rest = rest.as_str();
        return begins && rest.strip_prefix('-').unwrap_or(rest).chars().all(is_inner);
    };
    let is_top = last.chars().count() >= 2 && last.chars().all(|c| c.is_ascii_alphabetic() || !c.is_ascii());
    is_top && labels.split('.').all(is_label)
}

/// Returns whether a text has the form of an email address, with an optional name before it. Quoted texts and comments
/// are not checked.
pub(super) fn is_email(text: &str) -> bool {
    if text.contains(['"', '(']) {
        return true;
    }
    let address = match text.trim().strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
        Some((_, address)) => address,
        None => text.trim(),
    };
    let Some((local, domain)) = address.split_once('@') else { return false };
    let is_word = |text: &str| {
        !text.is_empty() && !text.starts_with('.') && !text.ends_with('.') && !text.contains(['@', ' ', ',', ';', '<'])
    };
    is_word(local) && is_word(domain)
}

pub(super) fn is_uri(text: &str) -> bool {
    Url::is_valid(text)
}
