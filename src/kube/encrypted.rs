//! Values that SOPS encrypted.

/// Returns whether a text is an encrypted value.
pub fn is_encrypted_value(text: &str) -> bool {
    text.starts_with("ENC[") && text.ends_with(']')
}
