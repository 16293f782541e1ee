//! The private values in assignments and arguments, in a text of any format.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::markers::may_name_secrets;
use super::name::{Name, of_value};

/// Matches `NAME = VALUE`, and `--NAME VALUE`, also as two items of a list.
static ASSIGNMENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?:--?)?([A-Za-z][A-Za-z0-9_.-]*)\s?=\s?["']?([^\s"',;)}\]=]+)|--([A-Za-z][A-Za-z0-9_.-]*)(?:["']?,\s*|["']?\s+-\s+|[ \t]+)["']?([^\s"',;)}\]-][^\s"',;)}\]]*)"#,
    )
    .expect("the expression is constant")
});

/// The ranges of values that a text assigns to names that denote secrets, such as `--password=…` or `password = …`.
///
/// This finds too much rather than too little, since it is for masks. References such as `$(PASSWORD)` are not values.
pub fn assigned_values(text: &str) -> Vec<Range<usize>> {
    if !(text.contains('=') || contains_flag(text)) || !may_name_secrets(text) {
        return Vec::new();
    }
    let found = ASSIGNMENT.captures_iter(text).filter_map(|found| {
        let name = found.get(1).or_else(|| found.get(3))?.as_str();
        let value = found.get(2).or_else(|| found.get(4))?;
        let is_private = match of_value(name) {
            Name::Private => true,
            Name::Ambiguous => value.as_str().bytes().any(|byte| byte.is_ascii_digit()),
            Name::Neutral => false,
        };
        (is_private && !value.as_str().starts_with(['$', '<', '{'])).then(|| value.range())
    });
    found.collect()
}

/// Returns whether a text contains `--` before a letter.
fn contains_flag(text: &str) -> bool {
    let is_flag = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_alphabetic);
    text.match_indices("--").any(|(at, _)| is_flag(at + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_in_each_notation() {
        let found = |text| -> Vec<&str> {
            assigned_values(text).into_iter().filter_map(|range| str::get(text, range)).collect()
        };
        for text in [
            "--password=hunter2",
            "user = bob\npassword = hunter2\n",
            "[--api-key, hunter2]",
            r#"["--db-password", "hunter2"]"#,
            "- --token\n- hunter2\n",
            "export DB_PASSWORD=hunter2; run",
            "run --api-key hunter2 --verbose",
        ] {
            assert_eq!(found(text), ["hunter2"], "{text}");
        }
        for text in
            ["--password=$(PASSWORD)", "--password-file=/run/a", "[--password, --user]", "key = value", "a --token b"]
        {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
