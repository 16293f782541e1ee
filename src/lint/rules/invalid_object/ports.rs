//! Names of ports.

/// The maximum length of a name.
const MAX_PORT_NAME: usize = 15;

/// The reason why the name of a port of a container, an Ingress or a NetworkPolicy is invalid.
///
/// Source: `IsValidPortName` of `k8s.io/apimachinery`.
pub(super) fn port_name_fault(name: &str) -> Option<&'static str> {
    let is_valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.len() > MAX_PORT_NAME {
        Some("it has more than 15 characters")
    } else if !name.bytes().all(is_valid) {
        Some("it has other characters than lowercase letters, digits and hyphens")
    } else if !name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        Some("it has no letter")
    } else if name.contains("--") || name.starts_with('-') || name.ends_with('-') {
        Some("it begins or ends with a hyphen, or has two in a row")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::port_name_fault;

    #[test]
    fn names_of_ports_are_valid_service_names() {
        for valid in ["http", "a-b", "8080-tcp", "a", "fifteen-letters"] {
            assert_eq!(port_name_fault(valid), None, "{valid}");
        }
        for invalid in ["", "sixteen-letters-", "HTTP", "80", "a--b", "-a", "a-", "a_b"] {
            assert!(port_name_fault(invalid).is_some(), "{invalid}");
        }
    }
}
