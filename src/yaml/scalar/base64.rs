//! Base64 as Go's library reads it, which is behind Kubernetes, kustomize and Helm's templates.

use std::sync::LazyLock;

use data_encoding::{BASE64, Encoding};

/// Go does not ask that the bits behind the last byte are zero.
static LENIENT: LazyLock<Encoding> = LazyLock::new(|| {
    let mut specification = BASE64.specification();
    specification.check_trailing_bits = false;
    specification.encoding().unwrap_or(BASE64)
});

/// The bytes that base64 stands for, whatever white space is in it; `None` when it is none.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let symbols: String = text.split_ascii_whitespace().collect();
    // The library also reads several texts one after the other, each with its padding.
    let is_one = !symbols.trim_end_matches('=').contains('=');
    LENIENT.decode(symbols.as_bytes()).ok().filter(|_| is_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_behind_the_last_byte_do_not_count_and_padding_ends_the_text() {
        assert_eq!(decode_base64("Zm9v\n YmE=").as_deref(), Some(&b"fooba"[..]));
        assert_eq!(decode_base64("Zh==").as_deref(), Some(&b"f"[..]));
        for wrong in ["Zg", "Zg=", "Zg==Zg==", "Zg===", "Z*=="] {
            assert_eq!(decode_base64(wrong), None, "{wrong}");
        }
    }
}
