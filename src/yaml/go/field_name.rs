//! The names of fields as Go's package `encoding/json` matches them.

/// Returns whether a key sets a field.
///
/// The case of letters does not matter. Go folds runes, so `ſ` (U+017F) is an `s`, and `K` (U+212A) is a `k`.
pub fn is_field(key: &str, field: &str) -> bool {
    key.eq_ignore_ascii_case(field) || (!key.is_ascii() && key.chars().map(folded).eq(field.chars().map(folded)))
}

fn folded(character: char) -> char {
    match character {
        '\u{17F}' => 's',
        '\u{212A}' => 'k',
        other => other.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::is_field;

    #[test]
    fn letters_fold_as_in_go() {
        assert!(is_field("Resources", "resources") && is_field("re\u{17F}ource\u{17F}", "resources"));
        assert!(is_field("\u{212A}ind", "kind") && !is_field("resourcés", "resources") && !is_field("ſ", "resources"));
    }
}
