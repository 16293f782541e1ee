//! The formats of strings and numbers that the API server validates. It ignores other formats.
//!
//! Source: `supportedVersionedFormats` of `k8s.io/apiextensions-apiserver`, and `k8s.io/kube-openapi/pkg/validation/strfmt`.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The fault of a string, in words that follow `which is not`; `None` if the string is valid or the format is ignored.
pub(super) fn fault_of_text(format: &str, text: &str) -> Option<&'static str> {
    let (is_valid, fault) = match format.replace('-', "").as_str() {
        "datetime" => (is_date_time(text), "a time as in `2026-01-31T12:00:00Z`"),
        "date" => (is_date(text), "a date as in `2026-01-31`"),
        "byte" => (is_base64(text), "Base64"),
        "ipv4" => (text.parse::<Ipv4Addr>().is_ok(), "an IPv4 address"),
        "ipv6" => (text.parse::<Ipv6Addr>().is_ok(), "an IPv6 address"),
        "cidr" => (is_cidr(text), "a CIDR range"),
        "uuid" => (is_uuid(text), "a UUID"),
        "hexcolor" => (is_hex_color(text), "a color"),
        _ => return None,
    };
    (!is_valid).then_some(fault)
}

/// The fault of an integer, in words that follow `which is not`.
pub(super) fn fault_of_integer(format: &str, number: i128) -> Option<&'static str> {
    match format {
        "int32" => (i32::try_from(number).is_err()).then_some("a number of 32 bits"),
        "int64" => (i64::try_from(number).is_err()).then_some("a number of 64 bits"),
        _ => None,
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let number = |text: &str, len: usize| {
        (text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse::<u32>().ok())?
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Returns whether a text is a time. The library also accepts a space or a lower-case letter before the time of day, and
/// a time without a zone.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else { return false };
    if !is_date(date) {
        return false;
    }
    let end = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let Some((clock, zone)) = time.split_at_checked(end) else { return false };
    let (clock, fraction) = clock.split_once('.').map_or((clock, "0"), |(clock, fraction)| (clock, fraction));
    let in_range = |text: &str, limit: u32| {
        text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse().is_ok_and(|n: u32| n < limit)
    };
    let parts: Vec<&str> = clock.split(':').collect();
    let [hours, minutes, seconds] = parts.as_slice() else { return false };
    let is_clock = in_range(hours, 24) && in_range(minutes, 60) && in_range(seconds, 60);
    let is_zone = matches!(zone, "" | "Z" | "z")
        || zone.get(1..).is_some_and(|zone| {
            let (hours, minutes) =
                zone.split_once(':').unwrap_or_else(|| zone.split_at_checked(2).unwrap_or((zone, "")));
            in_range(hours, 24) && in_range(minutes, 60)
        });
    is_clock && !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit()) && is_zone
}

fn is_base64(text: &str) -> bool {
    let text: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
    data_encoding::BASE64.decode(text.as_bytes()).is_ok() || is_padded_base64(&text)
}

/// Returns whether a text has the form of Base64. Go ignores bits behind the last byte.
fn is_padded_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let limit = if address.parse::<Ipv4Addr>().is_ok() {
        32
    } else if address.parse::<Ipv6Addr>().is_ok() {
        128
    } else {
        return false;
    };
    bits.bytes().all(|byte| byte.is_ascii_digit()) && bits.parse().is_ok_and(|bits: u32| bits <= limit)
}

fn is_uuid(text: &str) -> bool {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_of_the_api_server() {
        for (format, valid, invalid) in [
            ("date-time", "2026-01-31T12:00:00Z", "2026-01-32T12:00:00Z"),
            ("date-time", "2026-01-31T12:00:00.5+01:00", "yesterday"),
            ("date", "2024-02-29", "2023-02-29"),
            ("byte", "aGVsbG8=", "a b"),
            ("ipv4", "10.0.0.1", "10.0.0"),
            ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
            ("uuid", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "6ba7b810"),
            ("unknown", "x", ""),
        ] {
            assert_eq!(fault_of_text(format, valid), None, "{format} {valid}");
            assert_eq!(fault_of_text(format, invalid).is_none(), invalid.is_empty(), "{format} {invalid}");
        }
    }
}
