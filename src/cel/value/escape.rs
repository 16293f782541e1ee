//! Names of declared fields in expressions: `__dot__` for `.`, and `__namespace__` for the reserved word `namespace`.
//!
//! Source: `k8s.io/apiserver/pkg/cel/escaping.go`.

use std::borrow::Cow;

/// The words with a meaning in CEL.
const KEYWORDS: [&str; 4] = ["true", "false", "null", "in"];

/// The words that CEL reserves, so that no variable has their names.
pub(crate) const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];
const SEQUENCES: [(&str, &str); 4] =
    [("__underscores__", "__"), ("__dot__", "."), ("__dash__", "-"), ("__slash__", "/")];

/// The name in YAML of a field that an expression names.
pub(crate) fn unescape(name: &str) -> Cow<'_, str> {
    if !name.contains("__") {
        return name.into();
    }
    if let Some(word) = name.strip_prefix("__").and_then(|rest| rest.strip_suffix("__"))
        && (KEYWORDS.contains(&word) || RESERVED.contains(&word))
    {
        return word.into();
    }
    let (mut plain, mut rest) = (String::with_capacity(name.len()), name);
    while let Some(at) = rest.find("__") {
        let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
        plain.push_str(before);
        let sequence = SEQUENCES.iter().find_map(|(written, meant)| Some((after.strip_prefix(written)?, meant)));
        let (after, meant) = sequence.unwrap_or((after.strip_prefix("__").unwrap_or_default(), &"__"));
        plain.push_str(meant);
        rest = after;
    }
    plain.push_str(rest);
    plain.into()
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn escape_sequences_become_characters() {
        assert_eq!(unescape("a__dot__b__dash__c__slash__d"), "a.b-c/d");
        assert_eq!(unescape("__namespace__"), "namespace");
        assert_eq!(unescape("a__underscores__b"), "a__b");
        assert_eq!(unescape("plain_name"), "plain_name");
    }
}
