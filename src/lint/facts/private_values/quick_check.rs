//! Fast checks for texts that may contain private values. A text is parsed only if it may contain one.

use super::evidence::evidence;
use super::lines::private_lines;
use super::markers::may_assign;
use super::name::{self, Name};
use super::shape;

/// Returns whether a text may contain a private value, in any format. The check finds too much rather than too little.
pub fn may_be_private(text: &str) -> bool {
    shape::find(text).is_some() || shape::may_escape(text) || may_name_private(text)
}

/// Returns whether a text may contain a value that is private because of its name.
///
/// If the text names such a value, its other values may be well-known passwords or hashes, which only a parse finds.
pub(super) fn may_name_private(text: &str) -> bool {
    let is_private = |name: &str| name::of_value(name) != Name::Neutral;
    let has_evidence = |name: &str, value: Option<&str>| {
        is_private(name) && value.is_none_or(|value| evidence(name, value.trim(), || true, None).is_some())
    };
    may_assign(text, |name, _| is_private(name))
        && (shape::may_escape(text) || may_assign(text, has_evidence) || private_lines(text).next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_a_private_value_is_parsed() {
        for text in [
            "password: hunter2\n",
            "a: 1\npassword:\n  hunter2\n",
            "{\"password\": \"hunter2\"}",
            "{\"password\"\n: \"hunter2\"}",
            "{'apiKey': 'k7Qz-v3LmX0pR9tA'}",
            "- name: DB_PASSWORD\n  value: hunter2\n",
            r#"{"a": "{\"password\": \"hunter2\"}"}"#,
            "password: |\n  hunter2\n",
            "password: &a hunter2\n",
            "API_TOKEN=k7Qzv3LmX0pR9tA\n",
            "secret: ${A}\nurl: postgres://admin:admin@db/a\n",
            "secret: ${A}\nhash: $apr1$k7Qzv3Lm$0pR9tAk7Qzv3LmX0pR9tA\n",
        ] {
            assert!(may_be_private(text) && may_name_private(text), "{text}");
        }
    }

    #[test]
    fn a_text_whose_named_values_are_public_is_not_parsed() {
        for text in [
            "a: 1\n",
            "password: ${PASSWORD}\n",
            "{\"$$hashKey\": \"object:72\", \"password\": \"\"}",
            "auth:\n  enabled: true\ntoken: {a: 1}\nkeys: [a]\n",
            "secret:\n- a\n",
            "token: true\n",
        ] {
            assert!(!may_be_private(text), "{text}");
        }
    }
}
