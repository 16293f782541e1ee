//! URLs, as Go's package `net/url` reads them.

use std::collections::BTreeMap;
use std::fmt::Write;

/// A URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// The scheme in lower case; empty for a path.
    pub scheme: String,
    /// The host with its port.
    pub host: String,
    /// The path as written, or as Go escapes it.
    pub path: String,
    /// The text after `?`.
    pub query: String,
    /// The whole text.
    text: String,
}

impl Url {
    /// Reads a URL or an absolute path; the error states why the API server rejects it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fail = |why: &str| format!("parse {text:?}: {why}");
        if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
            return Err(fail("net/url: invalid control character in URL"));
        }
        if text.is_empty() {
            return Err(fail("empty url"));
        }
        // The first reading treats a fragment as a part of the path, and must succeed too.
        Self::read(text, true).map_err(fail)?;
        let without_fragment = text.split_once('#').map_or(text, |(before, _)| before);
        Self::read(without_fragment, false).map(|url| Self { text: text.into(), ..url }).map_err(fail)
    }

    /// Returns whether a text is a URL or an absolute path. A fragment counts as a part of the path.
    pub fn is_valid(text: &str) -> bool {
        let has_control = text.bytes().any(|byte| byte < 0x20 || byte == 0x7f);
        !has_control && !text.is_empty() && Self::read(text, true).is_ok()
    }

    /// Reads a URL without a fragment. A `strict` reading rejects a relative path.
    fn read(text: &str, strict: bool) -> Result<Self, &'static str> {
        let (scheme, rest) = split_scheme(text)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        if !rest.starts_with('/') && text != "*" {
            if !scheme.is_empty() {
                // Go calls this an opaque URL.
                return Ok(Self {
                    scheme,
                    host: String::new(),
                    path: String::new(),
                    query: query.into(),
                    text: text.into(),
                });
            }
            if strict {
                return Err("invalid URI for request");
            }
        }
        let authority = rest.strip_prefix("//").filter(|_| (!scheme.is_empty() || !strict) && !rest.starts_with("///"));
        let (host, path) = match authority {
            Some(rest) => rest.find('/').and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, "")),
            None => ("", rest),
        };
        let host = parse_authority(host)?;
        let path = escape_path(path)?;
        Ok(Self { scheme, host, path, query: query.into(), text: text.into() })
    }

    /// The host without its port and without brackets.
    pub fn hostname(&self) -> &str {
        let host = self.split_host().0;
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }

    /// The port; empty if there is none.
    pub fn port(&self) -> &str {
        self.split_host().1
    }

    fn split_host(&self) -> (&str, &str) {
        match self.host.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !port.contains(']') => (host, port),
            _ => (&self.host, ""),
        }
    }

    /// The parameters of the query with their values. Go ignores a parameter that it cannot decode.
    pub fn parameters(&self) -> BTreeMap<String, Vec<String>> {
        let mut parameters: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for part in self.query.split('&').filter(|part| !part.is_empty() && !part.contains(';')) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let (Some(name), Some(value)) = (decode(name, true), decode(value, true)) else { continue };
            parameters.entry(name).or_default().push(value);
        }
        parameters
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Splits a scheme from the rest.
fn split_scheme(text: &str) -> Result<(String, &str), &'static str> {
    for (at, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at > 0 => {}
            ':' if at == 0 => return Err("missing protocol scheme"),
            ':' => {
                let (scheme, rest) = text.split_once(':').unwrap_or((text, ""));
                return Ok((scheme.to_ascii_lowercase(), rest));
            }
            _ => break,
        }
    }
    Ok((String::new(), text))
}

/// Checks the user and the host, and decodes the host.
fn parse_authority(text: &str) -> Result<String, &'static str> {
    let host = match text.rsplit_once('@') {
        Some((user, host)) => {
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
            if !user.chars().all(is_allowed) {
                return Err("net/url: invalid userinfo");
            }
            decode(user, false).ok_or("invalid URL escape")?;
            host
        }
        None => text,
    };
    if host.starts_with('[') {
        let (address, port) = host.rsplit_once(']').ok_or("missing ']' in host")?;
        if !is_port(port) {
            return Err("invalid port after host");
        }
        let address = address.trim_start_matches('[');
        let plain = address.split_once("%25").map_or(address, |(plain, _)| plain);
        plain.parse::<core::net::Ipv6Addr>().map_err(|_| "invalid host")?;
        return Ok(host.replace("%25", "%"));
    }
    if host.matches(':').count() > 1 {
        return Err("invalid port after host");
    }
    if let Some(at) = host.rfind(':')
        && !is_port(host.get(at..).unwrap_or_default())
    {
        return Err("invalid port after host");
    }
    if host.contains(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && !"-._~!$&'()*+,;=:[]<>\"%".contains(c)) {
        return Err("invalid character in host name");
    }
    // Go decodes only bytes outside ASCII in a host.
    let decoded = decode(host, false).ok_or("invalid URL escape")?;
    if decoded.len() != host.len() && host.split('%').skip(1).any(|part| part.starts_with(|c| ('0'..'8').contains(&c)))
    {
        return Err("invalid URL escape");
    }
    Ok(decoded)
}

/// Returns whether a text is empty, `:`, or a colon and digits.
fn is_port(text: &str) -> bool {
    text.strip_prefix(':').map_or(text.is_empty(), |digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the path as written if it is a valid encoding, and an encoding of it otherwise.
fn escape_path(path: &str) -> Result<String, &'static str> {
    decode_bytes(path, false).ok_or("invalid URL escape")?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@!'()*[]%".contains(&byte);
    if path.bytes().all(is_plain) {
        return Ok(path.into());
    }
    let mut escaped = String::with_capacity(path.len() + 8);
    for byte in decode_bytes(path, false).unwrap_or_default() {
        if byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    Ok(escaped)
}

/// Decodes `%41`, and `+` in a query; `None` for an invalid escape sequence.
fn decode(text: &str, is_query: bool) -> Option<String> {
    decode_bytes(text, is_query).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn decode_bytes(text: &str, is_query: bool) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let mut digit = || bytes.next().and_then(|byte| char::from(byte).to_digit(16));
                let (high, low) = (digit()?, digit()?);
                u8::try_from(high * 16 + low).ok()?
            }
            b'+' if is_query => b' ',
            other => other,
        });
    }
    Some(decoded)
}
