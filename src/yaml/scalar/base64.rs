//! Base64 as Go's library decodes it, for Kubernetes, kustomize and Helm templates.

use std::sync::LazyLock;

use data_encoding::{BASE64, Encoding};

/// The decoder for base64. Like Go, it accepts nonzero bits after the last byte.
static LENIENT: LazyLock<Encoding> = LazyLock::new(|| {
    let mut specification = BASE64.specification();
    specification.check_trailing_bits = false;
    specification.encoding().unwrap_or(BASE64)
});

/// Decodes base64, ignoring white space; `None` if the text is not valid base64.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let symbols: String = text.split_ascii_whitespace().collect();
    // The library also decodes several concatenated texts, each with its padding. Go does not.
    let is_one = !symbols.trim_end_matches('=').contains('=');
    LENIENT.decode(symbols.as_bytes()).ok().filter(|_| is_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_bits_are_ignored_and_padding_ends_the_text() {
        assert_eq!(decode_base64("Zm9v\n YmE=").as_deref(), Some(&b"fooba"[..]));
        assert_eq!(decode_base64("Zh==").as_deref(), Some(&b"f"[..]));
        for wrong in ["Zg", "Zg=", "Zg==Zg==", "Zg===", "Z*=="] {
            assert_eq!(decode_base64(wrong), None, "{wrong}");
        }
    }
}
