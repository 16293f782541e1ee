//! The shapes of values. Some shapes make a value private under any name. Other shapes make a value public.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memchr2;

use super::guessable::is_guessable;
use super::jwt::is_private_jwt;
use super::markers::{JWT, KEY, Marker, contains_address, markers};
use super::placeholder::{contains_placeholder, is_placeholder};
use super::random::{is_host, is_random, looks_random};
use crate::yaml::decode_base64;

/// A part of a text that is private under any name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    /// The range of the part in the text.
    pub(super) range: Range<usize>,
    /// The description of the part: a noun with its article.
    pub(super) what: &'static str,
}

/// The hosts and paths of webhooks whose last segment is the credential.
const WEBHOOKS: [(&str, &str); 13] = [
    ("hooks.slack.com/services/", "a Slack webhook URL"),
    ("hooks.slack.com/workflows/", "a Slack webhook URL"),
    ("hooks.slack.com/triggers/", "a Slack webhook URL"),
    ("discord.com/api/webhooks/", "a Discord webhook URL"),
    ("discordapp.com/api/webhooks/", "a Discord webhook URL"),
    (".webhook.office.com/", "a Microsoft Teams webhook URL"),
    ("outlook.office.com/webhook/", "a Microsoft Teams webhook URL"),
    ("webexapis.com/v1/webhooks/incoming/", "a Webex webhook URL"),
    ("open.larksuite.com/open-apis/bot/v2/hook/", "a Lark webhook URL"),
    ("open.feishu.cn/open-apis/bot/v2/hook/", "a Lark webhook URL"),
    ("hooks.zapier.com/hooks/catch/", "a Zapier webhook URL"),
    ("api.telegram.org/bot", "a Telegram token"),
    ("hc-ping.com/", "a ping URL"),
];

/// The query parameters of addresses whose values are credentials.
const PARAMETERS: [&str; 6] = ["token", "access_token", "sig", "secret", "password", "private_token"];

/// The query parameters of addresses whose values are credentials or the public identifiers of web clients.
const KEYS: [&str; 3] = ["key", "api_key", "apikey"];

/// The description of an address with a user and a password.
pub(crate) const ADDRESS_WITH_PASSWORD: &str = "a URL with a password";

/// The description of an address with one of these keys.
pub(crate) const ADDRESS_WITH_KEY: &str = "a URL with a key";

/// The description of an address that only the containers of one Pod can use. Its program may be a proxy of another.
pub(crate) const LOCAL_ADDRESS: &str = "a URL with a password for localhost";

/// The description of a hash from which an attacker can search for the password.
pub(crate) const PASSWORD_HASH: &str = "a password hash";

/// The starts of password hashes, as `crypt` and web servers read them.
const HASHES: [&str; 15] = [
    "$1$", "$2a$", "$2b$", "$2y$", "$5$", "$6$", "$7$", "$y$", "$apr1$", "$argon2", "$pbkdf2", "$scrypt$", "{SHA}",
    "{SSHA}", "{PBKDF2}",
];

/// The minimum length of a token or key. Most texts are shorter.
const MIN_TOKEN: usize = 24;

/// Returns whether a text is too short and too plain to have a shape or parts: most values, which only a name makes private.
pub(super) fn is_short_word(text: &str) -> bool {
    text.len() < MIN_TOKEN && !text.bytes().any(|byte| matches!(byte, b':' | b'$' | b'{' | b'\n'))
}

/// The first part of a text that is private under any name.
pub(super) fn find(text: &str) -> Option<Shape> {
    let has_address = contains_address(text);
    if text.len() < MIN_TOKEN && !has_address {
        return None;
    }
    let (mut has_key, mut encoded, mut tokens) = (false, None, Vec::new());
    let mut words = Words::new(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    for (at, marker) in markers(text) {
        match marker {
            Marker::Key => has_key = true,
            Marker::Der => encoded = encoded.or_else(|| encoded_key(text, at)),
            Marker::Token(prefix, length, what) => {
                tokens.extend(words.end_of(text, at).map(|end| (at..end, prefix, length, what)));
            }
        }
    }
    let key = has_key.then(|| private_key(text)).flatten();
    let token =
        || tokens.into_iter().find_map(|(range, prefix, length, what)| token(text, range, prefix, length, what));
    let address = || addresses(text).find_map(|place| private_address(text, place));
    key.or(encoded).or_else(token).or_else(|| has_address.then(address).flatten())
}

/// Returns whether a value in a text may have a shape although [`find`] finds none in the text: a second key, an address
/// with a well-known password, or a password hash.
pub(super) fn may_escape(text: &str) -> bool {
    static STARTS: LazyLock<AhoCorasick> = LazyLock::new(|| {
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(HASHES.iter().chain([&KEY]));
        finder.expect("the starts are few and short")
    });
    STARTS.is_match(text) || (contains_address(text) && text.contains('@'))
}

/// A private key in PEM format.
fn private_key(text: &str) -> Option<Shape> {
    let (start, _) = text.match_indices("-----BEGIN ").find(|(at, begin)| {
        let label = text.get(at + begin.len()..).unwrap_or_default().split("-----").next().unwrap_or_default();
        label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK")
    })?;
    let rest = text.get(start..)?;
    let line_end = |at: usize| rest.get(at..)?.find('\n').map(|end| at + end);
    let end = rest.find("-----END ").and_then(line_end).unwrap_or(rest.len());
    let body = rest.get(..end)?.split("-----").nth(2).unwrap_or_default();
    // A script may contain the first and last line of a key without the key. In JSON, a line break may be escaped.
    let first = body.trim_start().trim_start_matches("\\n").split(['\n', '\\']).next().unwrap_or_default().trim();
    let is_header = ["Proc-Type:", "Version:", "Comment:"].iter().any(|header| first.starts_with(header));
    let is_encoded = first.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
    // Each line of a key mixes uppercase and lowercase letters; `FAKEPRIVATEKEY` is a placeholder.
    let is_word = first.len() > 6 && first.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_key = !first.is_empty() && (is_header || is_encoded) && !is_word && !is_placeholder(first);
    is_key.then(|| Shape { range: start..start + end, what: "a private key" })
}

/// A private key in DER format, PKCS#1, PKCS#8 or SEC 1, in base64 on one line.
///
/// A certificate and a public key do not begin with a version.
fn encoded_key(text: &str, at: usize) -> Option<Shape> {
    /// The length of the base64 that contains the start of a key.
    const HEAD: usize = 24;
    let is_symbol = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/');
    if text.get(..at)?.ends_with(is_symbol) {
        return None;
    }
    let rest = text.get(at..)?;
    let head = decode_base64(rest.get(..HEAD)?)?;
    let (length, body) = match *head.as_slice() {
        [0x30, 0x81, length, ref body @ ..] => (usize::from(length) + 3, body),
        [0x30, 0x82, high, low, ref body @ ..] => (usize::from(high) * 256 + usize::from(low) + 4, body),
        [0x30, length, ref body @ ..] => (usize::from(length) + 2, body),
        _ => return None,
    };
    // The version, and then the modulus, the identifier of the algorithm, or the key of an elliptic curve.
    let is_key = matches!(*body, [2, 1, 0, 2, 0x81 | 0x82, ..] | [2, 1, 0, 0x30, _, 6, ..] | [2, 1, 1, 4, ..]);
    let end = rest.find(|c: char| !is_symbol(c)).unwrap_or(rest.len());
    let padding = rest.get(end..)?.bytes().take(2).take_while(|byte| *byte == b'=').count();
    let end = end + padding;
    let is_whole = is_key && decode_base64(rest.get(..end)?).is_some_and(|key| key.len() == length);
    is_whole.then_some(Shape { range: at..at + end, what: "a private key" })
}

/// A token in a range of a text that starts with a known prefix.
fn token(text: &str, range: Range<usize>, prefix: &str, length: usize, what: &'static str) -> Option<Shape> {
    let before = text.get(..range.start).and_then(|text| text.chars().next_back());
    if before.is_some_and(|before| before.is_ascii_alphanumeric() || before == '_') {
        return None;
    }
    let whole = text.get(range.clone()).unwrap_or_default();
    let is_token = whole.len() >= length && is_random(whole.get(prefix.len()..).unwrap_or_default());
    let is_token = is_token && (prefix != JWT || is_private_jwt(whole));
    is_token.then_some(Shape { range, what })
}

/// The ranges of the addresses in a text.
fn addresses(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut words = Words::new(|c| !(c.is_whitespace() || "\"'`,;)]}".contains(c)));
    text.match_indices("://").filter_map(move |(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let scheme = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "+-.".contains(c));
        Some(scheme.len()..words.end_of(text, at)?)
    })
}

/// The maximum number of places that are examined in one word. A search at more places would be quadratic.
const MAX_PLACES: usize = 8;

/// The words of a text, for places in their order.
struct Words<F> {
    is_of_word: F,
    /// The end of the current word.
    end: usize,
    /// The number of places in it.
    places: usize,
}

impl<F: Fn(char) -> bool> Words<F> {
    fn new(is_of_word: F) -> Self {
        Self { is_of_word, end: 0, places: 0 }
    }

    /// The end of the word at a place; `None` if the word had too many places.
    fn end_of(&mut self, text: &str, at: usize) -> Option<usize> {
        if at >= self.end {
            let rest = text.get(at..).unwrap_or_default();
            self.end = at + rest.find(|c: char| !(self.is_of_word)(c)).unwrap_or(rest.len());
            self.places = 0;
        }
        self.places += 1;
        (self.places <= MAX_PLACES).then_some(self.end)
    }
}

/// Returns whether a host, which may have a port, is the machine or the Pod of the program itself.
fn is_local(host: &str) -> bool {
    let name = host.split(':').next().unwrap_or_default();
    // In a text, an address ends before `]`.
    name == "localhost" || name.starts_with("127.") || host == "[::1"
}

/// An address in a range of a text, if the address contains a password or is a credential.
fn private_address(text: &str, range: Range<usize>) -> Option<Shape> {
    let address = text.get(range.clone())?;
    let (_, rest) = address.split_once("://")?;
    // A program replaces `{name}`: no address contains a brace.
    if contains_placeholder(rest) || rest.contains('{') {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let parts = authority.rsplit_once('@').and_then(|(user, host)| Some((user.split_once(':')?, host)));
    if let Some(((user, password), host)) = parts
        && user != password
        && !is_placeholder(password)
        && !is_guessable(password)
        // `user:cn` is a user in a region.
        && password.len() > 2
        // The default of many charts is the name of the program.
        && !host.split(['-', '.', ':']).any(|word| word == password)
    {
        let what = if is_local(host) { LOCAL_ADDRESS } else { ADDRESS_WITH_PASSWORD };
        return Some(Shape { range, what });
    }
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let hook = WEBHOOKS.iter().find(|(place, _)| path.contains(place));
    if let Some((place, what)) = hook {
        let credential = path.split(place).nth(1).unwrap_or_default();
        let last = credential.trim_end_matches('/').rsplit('/').find(|segment| segment.len() >= 8).unwrap_or_default();
        if !is_variable(last) && is_random(last) && !is_of_words(last) {
            return Some(Shape { range, what });
        }
    }
    let query = rest.split_once('?').map(|(_, query)| query.split('#').next().unwrap_or_default())?;
    let has_one_of = |list: &[&str]| {
        query.split('&').filter_map(|pair| pair.split_once('=')).any(|(name, value)| {
            let is_named = list.contains(&name.to_ascii_lowercase().as_str());
            is_named && value.len() >= 12 && !is_variable(value) && is_random(value)
        })
    };
    let token = has_one_of(&PARAMETERS).then_some("a URL with a token");
    let what = token.or_else(|| has_one_of(&KEYS).then_some(ADDRESS_WITH_KEY))?;
    Some(Shape { range, what })
}

/// Returns whether a value is an address with a password that attackers try first.
pub(super) fn has_known_password(value: &str) -> bool {
    if !contains_address(value) || value.contains(char::is_whitespace) {
        return false;
    }
    let Some((_, rest)) = value.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').and_then(|(user, _)| user.split_once(':'));
    let is_replaced = contains_placeholder(rest) || rest.contains('{');
    let is_known = |(user, password): (&str, &str)| {
        !is_placeholder(password) && (is_guessable(password) || (user == password && !password.is_empty()))
    };
    !is_replaced && user.is_some_and(is_known)
}

/// Returns whether a part of an address is a variable of a shell, such as `$TOKEN`.
fn is_variable(part: &str) -> bool {
    part.strip_prefix('$').is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

/// Returns whether a part of an address consists of words in lower case, such as `dev-alerts`. The credentials of webhooks
/// have digits or uppercase letters.
fn is_of_words(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_' | b'.'))
}

/// Returns whether the last segment of an address looks like the credential of a webhook.
pub(super) fn ends_with_token(address: &str) -> bool {
    let Some((_, rest)) = address.split_once("://") else { return false };
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let Some((_, path)) = path.split_once('/') else { return false };
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    !contains_placeholder(rest) && last.len() >= 16 && looks_random(last)
}

/// Returns whether a value is an address or a path: a URL, a host, an email address or a file path.
pub(super) fn is_address(text: &str) -> bool {
    let is_email = text.split_once('@').is_some_and(|(user, host)| !user.contains([':', '/']) && is_host(host));
    text.contains("://") || text.starts_with(['/', '~']) || text.starts_with("./") || is_host(text) || is_email
}

/// Returns whether each line of a value is a password hash, with or without the user, as in a file of `htpasswd`.
pub(super) fn is_password_hash(text: &str) -> bool {
    // The arguments of programs may also start with `$1$`.
    let is_digest = |text: &str| {
        text.len() >= 20 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/.=,-_".contains(&byte))
    };
    let starts = |text: &str| {
        HASHES.iter().any(|start| text.starts_with(start)) && text.rsplit(['$', '}']).next().is_some_and(is_digest)
    };
    let is_hash = |line: &str| starts(line) || line.split_once(':').is_some_and(|(_, hash)| starts(hash));
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    memchr2(b'$', b'{', text.as_bytes()).is_some()
        && lines().next().is_some()
        && lines().all(is_hash)
        && !contains_placeholder(text)
}

/// Returns whether a value is a number, a duration, a size or a switch.
pub(super) fn is_setting(text: &str) -> bool {
    let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-'));
    let is_number =
        unit.len() < text.len() && matches!(unit, "" | "ms" | "s" | "m" | "h" | "d" | "w" | "y" | "Mi" | "Gi");
    is_number || matches!(text, "true" | "false" | "yes" | "no" | "on" | "off" | "enabled" | "disabled" | "auto")
}

/// Returns whether a value is the name of an environment variable, such as `API_TOKEN`.
pub(super) fn is_variable_name(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    text.contains('_') && text.bytes().all(is_letter) && text.starts_with(|letter: char| letter.is_ascii_uppercase())
}

/// Returns whether a value is a UUID, such as `12f354f0-3778-441c-a704-f2924d3e3533`.
pub(super) fn is_uuid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Returns whether a value calls a function of a program: `base64.b64encode(text)`.
pub(super) fn is_call(text: &str) -> bool {
    let name = text.split('(').next().unwrap_or_default();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':');
    name.len() < text.len() && text.contains(')') && !name.is_empty() && name.bytes().all(is_name)
}

/// Returns whether a value is the name of an algorithm: `sha256`, `aes-xts-plain64`, `argon2id`, `HS256`.
pub(super) fn is_algorithm(text: &str) -> bool {
    let known = [
        "aes", "argon", "argon2", "bcrypt", "blake", "blowfish", "chacha", "cbc", "ctr", "des", "ecdsa", "ed", "es",
        "gcm", "hmac", "hs", "md", "pbkdf", "plain", "ps", "rc", "rs", "rsa", "scram", "scrypt", "serpent", "sha",
        "twofish", "xts",
    ];
    let lower = text.to_ascii_lowercase();
    let mut parts = lower.split(['-', '_', '/', ':']).peekable();
    let is_known = |part: &str| {
        let stem = part.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let stem = stem.strip_suffix("id").or_else(|| stem.strip_suffix('i')).unwrap_or(stem);
        stem.is_empty() || known.contains(&stem) || known.contains(&part)
    };
    lower.len() >= 3 && lower.starts_with(|letter: char| letter.is_ascii_alphabetic()) && parts.all(is_known)
}

/// Returns whether a value is a certificate or a public key.
pub(super) fn is_public(text: &str) -> bool {
    let public = ["ssh-rsa ", "ssh-ed25519 ", "ecdsa-sha2-", "sk-ssh-ed25519", "age1"];
    let is_pem = text.starts_with("-----BEGIN ") && !text.contains("PRIVATE KEY");
    is_pem || public.iter().any(|start| text.starts_with(start)) || is_sealed(text)
}

/// Returns whether a value is the output of `kubeseal --raw`.
///
/// The output consists of the length of an RSA part of 4096 bits, the RSA part, and an AES-GCM part.
///
/// Source: `HybridEncrypt` of sealed-secrets.
fn is_sealed(text: &str) -> bool {
    const RSA_LENGTH: [u8; 2] = [0x02, 0x00];
    // The length in base64, with two bits of the next byte.
    ["AgA", "AgB", "AgC", "AgD"].iter().any(|start| text.starts_with(start))
        && decode_base64(text).is_some_and(|bytes| bytes.starts_with(&RSA_LENGTH) && bytes.len() > 2 + 512)
}

/// The description of a value that is private because of its name together with its shape.
pub(super) fn of_named(name: &str, value: &str) -> Option<&'static str> {
    let is_aws = name.eq_ignore_ascii_case("aws_secret_access_key")
        && value.len() == 40
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    (is_aws && is_random(value)).then_some("an AWS secret key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_keys_are_private_under_any_name() {
        let token = ["ghp", "_", "k7Qzv3LmX0pR9tAk7Qzv3LmX0pR9tAbC12dE"].concat();
        for (text, what) in [
            (token.as_str(), "a GitHub token"),
            ("-----BEGIN EC PRIVATE KEY-----\nMHcCAQ\n-----END EC PRIVATE KEY-----\n", "a private key"),
            ("postgres://shop:correcthorse@db/shop", "a URL with a password"),
            ("https://discord.com/api/webhooks/123456789/k7Qz-v3LmX0pR9tA", "a Discord webhook URL"),
            ("https://prod.logic.azure.com/triggers?api-version=1&sig=k7Qzv3LmX0pR9tA", "a URL with a token"),
        ] {
            assert_eq!(find(text).map(|shape| shape.what), Some(what), "{text}");
        }
    }

    #[test]
    fn examples_and_addresses_are_not_private() {
        for text in [
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
            "-----BEGIN PRIVATE KEY-----\nREPLACEDBYTHEPIPELINE\n-----END PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\n${KEY}\n-----END PRIVATE KEY-----",
            "https://hooks.slack.com/services/<your-webhook>",
            "https://user:${PASSWORD}@example.com",
            "https://user:password@example.com",
            "ssh://git@git.example.com/shop",
            "echo \"-----BEGIN OPENSSH PRIVATE KEY-----\"\ncat key\necho \"-----END OPENSSH PRIVATE KEY-----\"",
            "https://api.example.com/@me:x",
            "https://example.com/?page=k7Qzv3LmX0pR9tA",
            "https://hooks.slack.com/services/$SLACK_WEBHOOK_PATH",
            "https://example.com/hook?token=$SLACK_BOT_TOKEN&channel=shop",
        ] {
            assert_eq!(find(text), None, "{text}");
        }
    }

    #[test]
    fn algorithms_have_known_names() {
        for text in ["sha256", "SHA-512", "aes-xts-plain64", "argon2id", "argon2i", "HS256", "pbkdf2", "scram-sha-256"]
        {
            assert!(is_algorithm(text), "{text}");
        }
        for text in ["1234", "hunter2", "correct-horse", "k7Qz-v3LmX0pR9tA", "sharon"] {
            assert!(!is_algorithm(text), "{text}");
        }
    }
}
