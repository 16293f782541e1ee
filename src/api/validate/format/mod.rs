//! The formats of strings and numbers that the API server validates. It ignores other formats.
//!
//! Source: `supportedVersionedFormats` of `k8s.io/apiextensions-apiserver`, and `k8s.io/kube-openapi/pkg/validation/strfmt`.
//! Formats of book, card and social security numbers and of colors are not checked, nor those that only new versions of
//! Kubernetes know.

mod time;
mod network;

use time::{is_date, is_date_time, is_duration};

use network::{is_cidr, is_email, is_hostname, is_ipv4, is_ipv6, is_mac, is_uri};

/// The fault of a string in a custom resource, in words that follow `which is not`; `None` if the string is valid or the
/// format is ignored.
pub(super) fn fault_of_text(format: &str, text: &str) -> Option<&'static str> {
    let (is_valid, fault) = match format.replace('-', "").as_str() {
        "datetime" => (is_date_time(text), "a time as in `2026-01-31T12:00:00Z`"),
        "date" => (is_date(text), "a date as in `2026-01-31`"),
        "duration" => (is_duration(text), "a duration as in `10m`"),
        "byte" => (is_strict_base64(text), "Base64"),
        "ipv4" => (is_ipv4(text), "an IPv4 address"),
        "ipv6" => (is_ipv6(text), "an IPv6 address"),
        "cidr" => (is_cidr(text), "a CIDR range"),
        "mac" => (is_mac(text), "a MAC address"),
        "hostname" => (is_hostname(text), "a host name"),
        "email" => (is_email(text), "an email address"),
        "uri" => (is_uri(text), "an absolute URI or an absolute path"),
        "uuid" => (is_uuid(text, None), "a UUID"),
        "uuid3" => (is_uuid(text, Some('3')), "a UUID of version 3"),
        "uuid4" => (is_uuid(text, Some('4')), "a UUID of version 4"),
        "uuid5" => (is_uuid(text, Some('5')), "a UUID of version 5"),
        "hexcolor" => (is_hex_color(text), "a color"),
        "bsonobjectid" => (is_hex(text, 24), "an object id"),
        _ => return None,
    };
    (!is_valid).then_some(fault)
}

/// The fault of a string in an object of Kubernetes, whose Go types read these formats.
pub(super) fn fault_of_typed_text(format: &str, text: &str) -> Option<&'static str> {
    (format == "byte" && !is_base64(text)).then_some("Base64")
}

/// The fault of a number without a fraction, in words that follow `which is not`.
pub(super) fn fault_of_integer(format: &str, number: f64) -> Option<&'static str> {
    // The API server compares floating-point numbers: the largest numbers of 64 bits round to one that is too large.
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    match format {
        "int32" => (!(f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number)).then_some("a number of 32 bits"),
        _ => (!(-BEYOND..BEYOND).contains(&number)).then_some("a number of 64 bits"),
    }
}

/// The fault of a number, in words that follow `which is not`.
pub(super) fn fault_of_float(format: &str, number: f64) -> Option<&'static str> {
    (format == "float" && number.abs() > f64::from(f32::MAX)).then_some("a floating-point number of 32 bits")
}

/// Returns whether a text is Base64 on one line that is not empty.
fn is_strict_base64(text: &str) -> bool {
    !text.is_empty() && is_padded_base64(text)
}

/// Returns whether Go decodes a text, which may have several lines.
fn is_base64(text: &str) -> bool {
    let text: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
    is_padded_base64(&text)
}

/// Returns whether a text has the form of Base64. The bits behind the last byte do not matter.
fn is_padded_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

/// Returns whether a text is a UUID, whose hyphens are optional, of a version.
fn is_uuid(text: &str, version: Option<char>) -> bool {
    let mut rest = text;
    for (index, len) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        rest = if index == 0 { rest } else { rest.strip_prefix('-').unwrap_or(rest) };
        let Some((part, after)) = rest.split_at_checked(len) else { return false };
        let first = part.chars().next().unwrap_or_default();
        let is_valid = match (index, version) {
            (2, Some(version)) => first == version,
            (3, Some('4' | '5')) => matches!(first.to_ascii_lowercase(), '8' | '9' | 'a' | 'b'),
            _ => true,
        };
        if !is_valid || !is_hex(part, len) {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}

fn is_hex(text: &str, len: usize) -> bool {
    text.len() == len && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    is_hex(digits, 3) || is_hex(digits, 6)
}
