//! The texts of some output, which tell which secret values it may contain.

use super::redactor::{START, notations};
use crate::text::Index;

/// The parts of some output.
///
/// A repository may have many secret values, and most output contains none of them. A search for the values in the output
/// is then much cheaper than the question which of them are public.
#[derive(Debug, Default)]
pub struct Printed {
    /// Each sequence of [`START`] bytes in the output.
    parts: Index<[u8; START], ()>,
}

impl Printed {
    /// Adds a text.
    pub fn add(&mut self, text: &[u8]) {
        for part in text.windows(START).filter_map(<[u8]>::first_chunk) {
            self.parts.insert(*part, ());
        }
    }

    /// Returns whether the output may contain a value in one of its notations, or the start or the end of one beside a cut.
    pub(super) fn may_contain(&self, value: &str) -> bool {
        notations(value).iter().map(String::as_bytes).any(|notation| {
            let ends = [notation.first_chunk(), notation.last_chunk()];
            ends.into_iter().flatten().any(|end| self.parts.contains(end))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::report::mask::SecretValues;
    use crate::text::{File, Tree};

    /// The values of a Secret, and the text after the mask of all values and of those that the text may contain.
    fn masked(values: &[&str], text: &str) -> [String; 2] {
        let mut secret = "kind: Secret\nstringData:\n".to_owned();
        for (at, value) in values.iter().enumerate() {
            writeln!(secret, "  k{at}: {value:?}").unwrap();
        }
        let secret = File::new("a.yaml", secret);
        let tree: Tree = [secret].into_iter().collect();
        let mut printed = Printed::default();
        printed.add(text.as_bytes());
        [SecretValues::of(&tree, None), SecretValues::printed(&tree, None, &printed)].map(|values| {
            let redactor = values.redactor();
            redactor.map_or(text.to_owned(), |redactor| redactor.redact_json(&redactor.redact(text)).into_owned())
        })
    }

    #[test]
    fn the_values_in_the_output_are_sufficient() {
        let values = ["hunter2-and-more", "Aa\"bcdef", "x<y&zzzz", "50%off-now", "secret\\path", "unprinted-value"];
        for text in [
            "nothing of interest, apiVersion: v1",
            "is hunter2-and-more.",
            r#"{"a": "Aa\"bcdef", "b": "secret\\path"}"#,
            "<a>x&lt;y&amp;zzzz</a>",
            "::error::50%25off-now",
            "in Base64: aHVudGVyMi1hbmQtbW9yZQ==",
            "cut: hunter2-an... and ...2-and-more",
        ] {
            let [all, some] = masked(&values, text);
            assert_eq!(all, some);
        }
        let [_, some] = masked(&values, "cut: hunter2-an... and ...2-and-more");
        assert_eq!(some, "cut: **********... and ...**********");
    }
}
