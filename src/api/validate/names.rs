//! The names of objects, labels and annotations.
//!
//! Source: `k8s.io/apimachinery/pkg/util/validation`.

/// Returns whether a text is a DNS label: at most 63 lower-case letters, digits and hyphens.
pub(crate) fn is_dns_label(text: &str) -> bool {
    text.len() <= 63 && is_lower_alphanumeric(text, |byte| byte == b'-')
}

/// Returns whether a text is a DNS subdomain: labels of any length, separated by dots, with at most 253 characters.
pub(crate) fn is_dns_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(|label| is_lower_alphanumeric(label, |byte| byte == b'-'))
}

/// Returns whether a text is a DNS label that starts with a letter.
pub(super) fn is_dns_1035_label(text: &str) -> bool {
    is_dns_label(text) && text.starts_with(|first: char| first.is_ascii_lowercase())
}

/// Returns whether a text can be a segment of a URL path, as the names of roles.
pub(super) fn is_path_segment(text: &str) -> bool {
    !matches!(text, "" | "." | "..") && !text.contains(['/', '%'])
}

/// Returns whether a text is the key of a label or an annotation: a name with an optional prefix.
pub(crate) fn is_qualified_name(text: &str) -> bool {
    let (prefix, name) = text.rsplit_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    let is_name = !name.is_empty() && is_label_value(name);
    is_name && prefix.is_none_or(|prefix| !prefix.contains('/') && is_dns_subdomain(prefix))
}

/// Returns whether a text is the value of a label; it may be empty.
pub(crate) fn is_label_value(text: &str) -> bool {
    let is_end = |c: char| c.is_ascii_alphanumeric();
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    text.is_empty()
        || text.len() <= 63 && text.bytes().all(is_inner) && text.starts_with(is_end) && text.ends_with(is_end)
}

fn is_lower_alphanumeric(text: &str, is_inner: impl Fn(u8) -> bool) -> bool {
    let is_end = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.as_bytes().first().is_some_and(is_end)
        && text.as_bytes().last().is_some_and(is_end)
        && text.bytes().all(|byte| is_end(&byte) || is_inner(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_the_api_server_accepts() {
        assert!(is_dns_label("a-1") && !is_dns_label("a.b") && !is_dns_label("-a") && !is_dns_label(&"a".repeat(64)));
        assert!(is_dns_subdomain("a.b-c.1") && !is_dns_subdomain("a..b") && !is_dns_subdomain("A"));
        assert!(is_dns_1035_label("a1") && !is_dns_1035_label("1a"));
        assert!(is_path_segment("system:node") && !is_path_segment("a/b"));
        assert!(
            is_qualified_name("app.kubernetes.io/Name_1") && !is_qualified_name("a/b/c") && !is_qualified_name("/a")
        );
        assert!(is_label_value("") && is_label_value("A_b.c") && !is_label_value("a ") && !is_label_value("a:b"));
    }
}
