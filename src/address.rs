//! The addresses of sources: different spellings of the same address are equal.

use std::fmt;

use arcstr::ArcStr;

/// The address of a repository, an artifact or a bucket, as the user wrote it.
///
/// Comparison ignores the scheme, the user, `.git` and the case of the host, and treats `host:path` as
/// `ssh://host/path`.
#[derive(Debug, Clone)]
pub struct Address {
    written: ArcStr,
    key: ArcStr,
}

impl Address {
    /// Creates the address of a URL with any scheme, or of a host with a path.
    pub fn new(url: &str) -> Self {
        Self { written: url.into(), key: key(url).into() }
    }

    /// The normalized address, which is equal for all spellings.
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Address {}

/// The location of a local copy of a source, from `--source URL=DIR`.
///
/// `URL#REF=DIR` is a copy of one branch, tag or version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The address of the source.
    pub address: Address,
    /// The branch, tag or version of the copy; `None` for any.
    pub reference: Option<ArcStr>,
    /// The directory of the copy, as the user typed it.
    pub folder: String,
}

/// The reason why a text is not `URL=DIR`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    /// The `=` is missing.
    #[error("missing `=`; use `URL=DIR`")]
    NoFolder,
    /// The URL before the `=` is empty.
    #[error("missing URL before the `=`; use `URL=DIR`")]
    EmptyUrl,
    /// The directory after the last `=` is empty.
    #[error("missing directory after the last `=`; use `URL=DIR`")]
    EmptyFolder,
    /// The reference after the `#` is empty.
    #[error("missing branch, tag or version after the `#`; use `URL#REF=DIR`, or `URL=DIR` for any revision")]
    EmptyReference,
}

impl Location {
    /// Parses `URL=DIR`. Splits at the last `=`, since a URL may contain `=`.
    pub fn parse(text: &str) -> Result<Self, LocationError> {
        let (url, folder) = text.rsplit_once('=').ok_or(LocationError::NoFolder)?;
        let (url, reference) = match url.trim().rsplit_once('#') {
            Some((_, "")) => return Err(LocationError::EmptyReference),
            Some((url, reference)) => (url, Some(short_reference(reference).into())),
            None => (url.trim(), None),
        };
        let address = Address::new(url);
        if address.key().is_empty() {
            return Err(LocationError::EmptyUrl);
        }
        if folder.trim().is_empty() {
            return Err(LocationError::EmptyFolder);
        }
        Ok(Self { address, reference, folder: folder.trim().to_owned() })
    }
}

/// The short form of a Git reference: `main` for `refs/heads/main`, `v1` for `refs/tags/v1`.
pub fn short_reference(reference: &str) -> &str {
    let short = ["refs/heads/", "refs/tags/"].iter().find_map(|prefix| reference.strip_prefix(prefix));
    short.unwrap_or(reference)
}

/// Normalizes a URL: the host in lower case, and the path without `.git` and slashes around it.
fn key(url: &str) -> String {
    let url = url.trim();
    let (scheme, rest) = url.split_once("://").map_or((None, url), |(scheme, rest)| (Some(scheme), rest));
    let (authority, path) = match (scheme, rest.find([':', '/'])) {
        // `git@host:path`, as in scp. A number is a port: `localhost:5000/x`.
        (None, Some(at)) if rest.get(at..=at) == Some(":") && !is_port(rest.get(at + 1..).unwrap_or_default()) => {
            rest.split_once(':').unwrap_or((rest, ""))
        }
        _ => rest.split_once('/').unwrap_or((rest, "")),
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_ascii_lowercase();
    let host = match host.rsplit_once(':') {
        // The SSH port of a server is unrelated to its HTTPS port.
        Some((name, port)) if scheme == Some("ssh") || matches!(port, "22" | "80" | "443") => name.to_owned(),
        _ => host,
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    if path.is_empty() { host } else { format!("{host}/{path}") }
}

fn is_port(rest: &str) -> bool {
    let first = rest.split('/').next().unwrap_or_default();
    !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_repository_are_equal() {
        let known = Address::new("https://github.com/acme/Fleet");
        for url in [
            "https://GitHub.com/acme/Fleet.git",
            "https://github.com:443/acme/Fleet/",
            "http://x-token:secret@github.com/acme/Fleet.git/",
            "ssh://git@github.com/acme/Fleet",
            "ssh://git@github.com:2222/acme/Fleet.git",
            "git@github.com:acme/Fleet.git",
            "github.com:acme/Fleet",
            "github.com/acme/Fleet",
            "oci://github.com/acme/Fleet",
        ] {
            assert_eq!(Address::new(url), known, "{url}");
        }
        for url in ["https://github.com/acme/fleet", "https://github.com/acme/Fleet/x", "https://gitlab.com/acme/Fleet"]
        {
            assert_ne!(Address::new(url), known, "{url}");
        }
        assert_eq!(Address::new("oci://localhost:5000/a/b").key(), "localhost:5000/a/b");
        assert_eq!(Address::new("localhost:5000/a/b").key(), "localhost:5000/a/b");
    }

    #[test]
    fn a_location_is_split_at_the_last_equals_sign() {
        let location = Location::parse("https://x.example/a?b=c#refs/heads/main=../a b").unwrap();
        assert_eq!(location.address.to_string(), "https://x.example/a?b=c");
        assert_eq!((location.reference.as_deref(), location.folder.as_str()), (Some("main"), "../a b"));
        assert_eq!(Location::parse("git@x.example:a/b=dir").unwrap().reference, None);
        assert_eq!(Location::parse("https://x.example/a"), Err(LocationError::NoFolder));
        assert_eq!(Location::parse("=dir"), Err(LocationError::EmptyUrl));
        assert_eq!(Location::parse("https://=dir"), Err(LocationError::EmptyUrl));
        assert_eq!(Location::parse("https://x.example/a="), Err(LocationError::EmptyFolder));
        assert_eq!(Location::parse("https://x.example/a#=dir"), Err(LocationError::EmptyReference));
    }
}
