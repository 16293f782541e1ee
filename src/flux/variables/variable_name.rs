//! The names of variables.

/// Tells whether Flux takes a name for that of a variable.
pub(crate) fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let first = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    first && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
