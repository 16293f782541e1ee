//! Texts that look random, as keys and tokens do.

use super::placeholder::contains_placeholder;
use crate::yaml::decode_base64;

/// Returns whether a text has at least six distinct letters and digits, and is not an example.
pub(super) fn is_random(text: &str) -> bool {
    let mut letters: Vec<char> = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let lower = text.to_ascii_lowercase();
    let is_example = ["xxxx", "example", "your", "replace", "placeholder", "0000", "abcdefgh", "redacted"];
    letters.sort_unstable();
    letters.dedup();
    letters.len() >= 6 && !is_example.iter().any(|example| lower.contains(example)) && !contains_placeholder(text)
}

/// Returns whether a text looks like a key or a token: a word that mixes letters and digits, not a name or a version.
pub(crate) fn looks_random(text: &str) -> bool {
    // Settings in a list, such as mount options: `nfsvers=4.2,noatime`.
    if text.contains(',') && text.split(',').any(is_setting) {
        return text.split(',').any(|item| looks_random(item.split_once('=').map_or(item, |(_, value)| value)));
    }
    if is_encoded_key(text) || is_random_word(text) {
        return is_random(text);
    }
    let text = text.trim_end_matches('=');
    if text.len() < 8 || text.contains(char::is_whitespace) || text.contains("://") || is_host(text) {
        return false;
    }
    let mixed = text.split(['-', '_', '.', '/', '+', ':', '@']).filter(|part| {
        let digits = part.chars().filter(char::is_ascii_digit).count();
        let letters = part.chars().filter(char::is_ascii_alphabetic).count();
        digits >= 2 && letters >= 2 || digits >= 1 && part.len() >= 12 && letters >= 2
    });
    let length: usize = mixed.map(str::len).sum();
    length >= 8 && is_random(text)
}

/// Returns whether a text assigns a value to a name of lowercase letters.
fn is_setting(text: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-');
    text.split_once('=').is_some_and(|(name, value)| {
        !name.is_empty() && name.bytes().all(is_of_name) && !value.trim_matches('=').is_empty()
    })
}

/// Returns whether a text is the base64 encoding of a key of 128, 256 or 512 bits. Its parts between `/` and `+` may be short.
fn is_encoded_key(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let has = |is_kind: fn(&u8) -> bool| body.bytes().any(|byte| is_kind(&byte));
    matches!((text.len(), text.len() - body.len()), (24 | 88, 2) | (44, 1))
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
        && decode_base64(text).is_some_and(|bytes| std::str::from_utf8(&bytes).is_err())
}

/// Returns whether a text is a long word of letters without a pattern: it often changes between uppercase and lowercase
/// letters, and has few vowels, unlike a name such as `clusterIssuerSecretName`.
fn is_random_word(text: &str) -> bool {
    const MIN_LENGTH: usize = 20;
    let changes = text
        .bytes()
        .zip(text.bytes().skip(1))
        .filter(|(one, next)| one.is_ascii_lowercase() != next.is_ascii_lowercase());
    let vowels = text.bytes().filter(|byte| b"aeiou".contains(&byte.to_ascii_lowercase())).count();
    text.len() >= MIN_LENGTH
        && text.bytes().all(|byte| byte.is_ascii_alphabetic())
        && changes.count() * 3 >= text.len()
        && vowels * 4 <= text.len()
}

/// Returns whether a text starts with a host: an IP address, or lowercase labels with dots.
///
/// The name of an image may also start with a host.
pub(super) fn is_host(text: &str) -> bool {
    let host = text.split([':', '/']).next().unwrap_or_default();
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    let labels: Vec<&str> = host.trim_end_matches('.').split('.').collect();
    let top = labels.last().copied().unwrap_or_default();
    let is_address = labels.len() == 4 && labels.iter().all(|label| label.parse::<u8>().is_ok());
    is_address
        || (labels.len() > 1
            && labels.iter().all(|label| is_label(label))
            && (2..=12).contains(&top.len())
            // The names of certificates end with a suffix, such as `example.com-tls`.
            && top.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_texts_mix_letters_and_digits() {
        for text in [
            "k7Qz-v3LmX0pR9tA",
            "04561461-0f92-42b3-9328-8b0c1bba4641",
            "5f4dcc3b5aa765d61d8327deb882cf99",
            "sXDnW/XT3SPbFkD+PJubuNzVlMz//UiGscsXmkqanVY=",
            "oFnszGiaMnztYRVsspeBWDqUVmJV",
            "user=backup,password=k7Qz3LmX0pR9",
        ] {
            assert!(looks_random(text), "{text}");
        }
        for text in [
            "oauth2-proxy",
            "my-app-secret",
            "db.example.com",
            "10.0.0.1:5432",
            "sha256",
            "v1.2.3-rc.1",
            "registry.example.com/web:1.2",
            "clusterIssuerSecretName",
            "kubernetesDashboardTLSCert",
            "nfsvers=3,hard,nolock",
            "noatime,nfsvers=4.2",
        ] {
            assert!(!looks_random(text), "{text}");
        }
        assert!(!is_encoded_key("VGhpcyBpcyBhIHRleHQgb2YgMzIgYnl0ZXMuLi4uLiE="), "the encoded bytes are a text");
    }
}
