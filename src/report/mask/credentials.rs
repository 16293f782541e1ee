//! Passwords, tokens and signatures in URLs: `https://user:password@host/path?sig=…`.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem;
use regex::Regex;

/// Matches the parameters of a URL that permit a request.
static PARAMETER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)[?&][a-z_-]*(?:sig|signature|token)=([^&#\s"'`<>${][^&#\s"'`<>]*)"#)
        .expect("the expression is constant")
});

/// The end of the scheme of a URL.
const SCHEME_END: &str = "://";

/// The minimum length of a token without a user in bytes. A shorter text is the name of a user.
const MIN_TOKEN: usize = 20;

/// The maximum length of an address in bytes. Without a limit, the search in a long word is quadratic.
const MAX_ADDRESS: usize = 1024;

/// Returns the ranges of the passwords and tokens in the URLs of a text.
pub(super) fn credentials(text: &str) -> impl Iterator<Item = Range<usize>> {
    let with_scheme = memmem::find_iter(text.as_bytes(), SCHEME_END).filter_map(|at| {
        let start = at + SCHEME_END.len();
        in_word(word(text.get(start..)?), true).map(|range| start + range.start..start + range.end)
    });
    let without_scheme = text.match_indices('@').filter_map(|(at, _)| {
        let first = boundary(text, at.saturating_sub(MAX_ADDRESS));
        let before = text.get(first..at)?;
        // A password follows a colon.
        memchr::memchr(b':', before.as_bytes())?;
        let start = first + before.rfind(is_end).map_or(0, |end| end + before.get(end..).map_or(0, first_len));
        // The author may have forgotten a slash, as in `https:/user:password@host`.
        let schemes = ["https:/", "http:/", "ssh:/"].into_iter();
        let mut scheme = schemes.filter(|scheme| text.get(start..at).is_some_and(|before| before.starts_with(scheme)));
        let start = scheme.next().map_or(start, |scheme| start + scheme.len());
        let whole = word(text.get(start..)?);
        let host = whole.get(at - start + 1..)?;
        let end = host.find([':', '/', ',', ')']).unwrap_or(host.len());
        let after = host.get(end..).unwrap_or_default();
        let is_host = is_host(host.get(..end).unwrap_or_default(), after) && !is_mail(whole);
        let is_address = is_host && !whole.contains("://");
        in_word(whole, false).filter(|_| is_address).map(|range| start + range.start..start + range.end)
    });
    let parameters = if text.contains(SCHEME_END) { text } else { "" };
    let in_parameters = PARAMETER.captures_iter(parameters).filter_map(|found| found.get(1)).map(|value| value.range());
    with_scheme.chain(without_scheme).chain(in_parameters)
}

/// Returns whether a text is the name of a host. A host without a domain has a port of digits, unlike the digest of an
/// image.
fn is_host(name: &str, after: &str) -> bool {
    let port = after.strip_prefix(':').map(|port| port.split('/').next().unwrap_or_default());
    let has_port =
        || port.is_some_and(|port| (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit()));
    !name.is_empty() && !name.starts_with('.') && (name.contains('.') || has_port())
}

/// Returns whether an address is a mailbox, which has no password.
fn is_mail(address: &str) -> bool {
    ["mailto:", "acct:", "sip:", "sips:", "xmpp:"].iter().any(|scheme| address.starts_with(scheme))
}

fn first_len(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

fn is_end(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>')
}

/// The start of a text that may be an address.
fn word(text: &str) -> &str {
    let text = text.get(..boundary(text, MAX_ADDRESS)).unwrap_or_default();
    text.get(..text.find(is_end).unwrap_or(text.len())).unwrap_or_default()
}

/// The first boundary of a character at or after a position, or the end of the text.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// The range of the password or token in an address without its scheme.
///
/// A password may contain `/`. Then, the text after the first `:` is not a port.
fn in_word(address: &str, has_scheme: bool) -> Option<Range<usize>> {
    let authority = address.get(..address.find(['/', '?', '#']).unwrap_or(address.len()))?;
    let in_authority = authority.rfind('@');
    let has_port = || {
        let port = authority.split_once(':').map(|(_, port)| port);
        port.is_none_or(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let end = match in_authority {
        Some(end) => end,
        None if !has_port() => address.rfind('@')?,
        None => return None,
    };
    let user = address.get(..end)?;
    // A template or a variable is not a value.
    if user.contains(['$', '{']) {
        return None;
    }
    let range = match user.find(':') {
        Some(colon) => colon + 1..user.len(),
        None if has_scheme && user.len() >= MIN_TOKEN => 0..user.len(),
        None => return None,
    };
    Some(range).filter(|range| !range.is_empty())
}

#[cfg(test)]
mod tests {
    use super::credentials;

    #[test]
    fn passwords_and_tokens_are_found() {
        let found = |text: &'static str| credentials(text).filter_map(|range| text.get(range)).collect::<Vec<_>>();
        assert_eq!(found("resources: [\"https://bob:hunter2@git.example.com/a.git//p?ref=x\"]"), ["hunter2"]);
        assert_eq!(found("- git::ssh://bob:pass@word@git.example.com/a"), ["pass@word"]);
        assert_eq!(found("url: https://bob:pa/word7@git.example.com/a"), ["pa/word7"]);
        assert_eq!(found("url: https:/bob:hunter2@git.example.com/a.git"), ["hunter2"]);
        assert_eq!(found("- bob:hunter2@git.example.com:a/b"), ["hunter2"]);
        assert_eq!(found("url: bob:hunter2@git.example.com/a/b.git"), ["hunter2"]);
        assert_eq!(found("https://abcdefghij0123456789@git.example.com"), ["abcdefghij0123456789"]);
        assert_eq!(found("endpoint: bob:hunter2@minio.example.com"), ["hunter2"]);
        assert_eq!(found("endpoint: bob:hunter2@minio:9000"), ["hunter2"]);
        assert_eq!(found("https://a.example/b?sig=hunter2&X-Amz-Signature=abcdef"), ["hunter2", "abcdef"]);
        let public = "ssh://git@github.com/a https://acme@dev.azure.com/acme https://a:${B}@c https://a/b:c@d";
        assert_eq!(found(public), Vec::<&str>::new());
        let images = "oci://a.example:5000/b:1@sha256:c image: a.example/b:1@sha256:c git@github.com:a/b.git a@b.example mailto:a@b.example https://a.example/?sig=${SIG}";
        assert_eq!(found(images), Vec::<&str>::new());
    }
}
