//! The words of the output itself, which no mask changes.

use std::collections::BTreeSet;

use crate::lint::RULES;
use crate::text::Index;

/// Words in the fields of the formats that the pages of the rules do not contain.
const FIELDS: [&str; 12] = [
    "artifact",
    "category",
    "column",
    "driver",
    "failure",
    "fingerprint",
    "fingerprints",
    "locations",
    "properties",
    "region",
    "testcase",
    "testsuite",
];

/// The words of some texts that are also words of the output itself, in lower case. A mask of such a word would change
/// the id of a rule or a field.
pub(super) fn own_words<'a>(texts: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let is_lower = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase());
    let words_of_texts: BTreeSet<&str> = texts.flat_map(words).filter(is_lower).collect();
    if words_of_texts.is_empty() {
        return words_of_texts;
    }
    let wanted: Index<&str, &str> = words_of_texts.into_iter().map(|word| (word, word)).collect();
    let own = RULES.iter().flat_map(|rule| [rule.id, rule.summary, rule.docs]).flat_map(words).chain(FIELDS);
    own.filter_map(|word| wanted.get(word).copied()).collect()
}

/// The words of a text: its parts of letters and digits.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}
