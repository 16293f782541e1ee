//! Regular expressions as Go's package `regexp` compiles them: the RE2 syntax, with Go's limits.
//!
//! kustomize and the controllers compile patterns with Go. Other dialects accept other patterns (`a{b}`, `\Qa\E`,
//! `\pL`), refuse other patterns (`a**`, `a{1001}`), and interpret some patterns differently (`\<`, `[a&&b]`).
//! Therefore, this module translates a pattern, and `regex-lite` runs the translation. Most patterns are matched
//! against only a few names, so compilation must be cheap.

mod refused;
mod class;
mod translate;
mod required;

use std::borrow::Cow;

pub use refused::Refused;

/// The sizes of compiled patterns in bytes that are tried in turn. The last one is the maximum.
const SIZES: [usize; 6] = [1 << 10, 4 << 10, 16 << 10, 128 << 10, 1 << 20, 4 << 20];

/// The maximum size of a compiled pattern of a schema in bytes, which may have thousands of patterns.
const MAX_IN_SCHEMA: usize = 1 << 20;

/// The size of a compiled pattern in bytes from which its compilation takes noticeable time.
const LARGE: usize = 128 << 10;

/// The size of a group in a state in bytes, and the maximum size of all groups in all states.
const GROUP: usize = 16;
const MAX_GROUPS: usize = 64 << 20;

/// The approximate size of a state of a compiled pattern in bytes.
const STATE: usize = 32;

/// The maximum length of a matched name. The time of a match is the product of the lengths of the pattern and the name.
pub(crate) const MAX_NAME: usize = 1024;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Regexp {
    regex: regex_lite::Regex,
    /// The maximum number of states.
    states: usize,
}

impl Regexp {
    /// Compiles a pattern as `regexp.Compile` does.
    pub fn compile(pattern: &str) -> Result<Self, Refused> {
        Self::compile_within(pattern, usize::MAX)
    }

    /// Compiles the pattern of a schema, which may have thousands of patterns.
    pub fn compile_of_schema(pattern: &str) -> Result<Self, Refused> {
        Self::compile_within(pattern, MAX_IN_SCHEMA)
    }

    fn compile_within(pattern: &str, max: usize) -> Result<Self, Refused> {
        let translated = translate::translate(pattern)?;
        let mut builder = regex_lite::RegexBuilder::new(&translated);
        // The translation of a group adds at most three nested groups.
        let nesting = 4 * translate::MAX_NESTING;
        builder.nest_limit(u32::try_from(nesting).unwrap_or(u32::MAX));
        let sized = SIZES
            .iter()
            .filter(|size| **size <= max)
            .find_map(|size| Some((builder.size_limit(*size).build().ok()?, size / STATE)));
        // A match needs memory for each group in each state.
        let fits = |(regex, states): &(regex_lite::Regex, usize)| {
            states.saturating_mul(regex.captures_len()).saturating_mul(GROUP) <= MAX_GROUPS
        };
        sized.filter(fits).map(|(regex, states)| Self { regex, states }).ok_or(Refused::Size)
    }

    /// The maximum number of steps of a match in a text.
    pub fn steps(&self, text: &str) -> usize {
        self.states.saturating_mul(text.len() + 1)
    }

    /// The number of steps of the compilation, if it takes noticeable time.
    pub fn steps_of_compilation(&self) -> usize {
        if self.states * STATE > LARGE { self.states } else { 0 }
    }

    /// The names of the groups, in the order of their numbers. Group 0 is the whole match. Unnamed groups are `None`.
    pub fn groups(&self) -> impl Iterator<Item = Option<&str>> {
        self.regex.capture_names()
    }

    /// A text that each match contains and that `is_wanted`, as far as the pattern writes it literally.
    pub fn required_text(&self, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
        required::text(&regex_syntax::parse(self.regex.as_str()).ok()?, &is_wanted)
    }

    /// Returns whether the pattern matches a part of a text.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Returns whether the pattern matches the name of an object. No pattern matches a name that the API server rejects.
    pub fn is_match_of_name(&self, name: &str) -> bool {
        name.len() <= MAX_NAME && self.regex.is_match(name)
    }

    /// The first match.
    pub fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.regex.find(text).map(|found| found.as_str())
    }

    /// All matches that do not overlap.
    pub fn find_all<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        self.regex.find_iter(text).map(|found| found.as_str())
    }

    /// Replaces all matches. `$1` and `${name}` in the replacement are the groups of the match.
    pub fn replace_all<'t>(&self, text: &'t str, by: &str) -> Cow<'t, str> {
        self.regex.replace_all(text, by)
    }

    /// Replaces all matches by a literal text.
    pub fn replace_all_literal<'t>(&self, text: &'t str, by: &str) -> Cow<'t, str> {
        self.regex.replace_all(text, regex_lite::NoExpand(by))
    }

    /// Splits a text at the matches into at most `limit` parts.
    ///
    /// Like Go, the function ignores an empty match at either end.
    pub fn split<'t>(&self, text: &'t str, limit: usize) -> Vec<&'t str> {
        if limit == 0 {
            return Vec::new();
        }
        if text.is_empty() && !self.regex.as_str().is_empty() {
            return vec![text];
        }
        let (mut parts, mut begin, mut end) = (Vec::new(), 0, 0);
        for found in self.regex.find_iter(text) {
            if parts.len() == limit - 1 {
                break;
            }
            end = found.start();
            if found.end() != 0 {
                parts.extend(text.get(begin..end));
            }
            begin = found.end();
        }
        if end != text.len() {
            parts.extend(text.get(begin..));
        }
        parts
    }
}

/// An upper bound of the size of a pattern after its repetitions are expanded. Go limits nested repetitions to 1000.
pub fn expanded_size(pattern: &str) -> usize {
    let mut factor: usize = 1;
    for part in pattern.split('{').skip(1) {
        let counts = part.split('}').next().unwrap_or_default().split(',');
        let largest = counts.filter_map(|count| count.parse::<usize>().ok()).max().unwrap_or(1);
        factor = factor.saturating_mul(largest.max(1)).min(1_000);
    }
    pattern.len().saturating_mul(factor)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::Regexp;

    #[derive(Deserialize)]
    struct Record {
        texts: Vec<String>,
        answers: Vec<Answer>,
    }

    /// The result of Go for a pattern: the first match in each text, if the pattern compiles.
    #[derive(Deserialize)]
    struct Answer {
        pattern: String,
        matches: Option<Vec<Option<String>>>,
    }

    #[test]
    fn patterns_match_what_go_matches() {
        let record = include_str!("../../../testdata/oracles/regexp/answers.json");
        let record: Record = serde_json::from_str(record).expect("the record is JSON");
        let mut differences = Vec::new();
        // Go 1.25 does not find scripts whose names have an underscore. Earlier versions do.
        let excused = [r"\p{Old_Italic}", r"\p{OldItalic}"];
        for Answer { pattern, matches } in record.answers.iter().filter(|one| !excused.contains(&&*one.pattern)) {
            let ours = Regexp::compile(pattern).map(|regexp| {
                let find = |text: &String| regexp.find(text).map(str::to_owned);
                record.texts.iter().map(find).collect::<Vec<_>>()
            });
            match (ours, matches) {
                (Ok(ours), Some(theirs)) if ours == *theirs => {}
                (Err(_), None) => {}
                (Ok(ours), Some(theirs)) => {
                    let pairs = record.texts.iter().zip(ours).zip(theirs);
                    differences.extend(pairs.filter(|((_, ours), theirs)| ours != *theirs).map(
                        |((text, ours), theirs)| format!("`{pattern}` in {text:?}: ours {ours:?}, Go's {theirs:?}"),
                    ));
                }
                (Ok(_), None) => differences.push(format!("`{pattern}`: Go refuses it")),
                (Err(refused), Some(_)) => differences.push(format!("`{pattern}`: Go compiles it, we say: {refused}")),
            }
        }
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }

    #[test]
    fn each_match_contains_a_required_text() {
        let required = |pattern: &str| Regexp::compile(pattern).unwrap().required_text(|text| text.contains('m'));
        assert_eq!(required("^main-(?P<ts>.*)$").as_deref(), Some("main-"));
        assert_eq!(required("^(?P<ts>[0-9]+)-(arm)$").as_deref(), Some("arm"));
        assert_eq!(required("(main-)+[0-9]+").as_deref(), Some("main-"));
        for none in ["main|dev", "(?i)main-", "(main-)?[0-9]+", "[m]*", "dev-"] {
            assert_eq!(required(none), None, "{none}");
        }
    }

    #[test]
    fn groups_nest_to_the_limit() {
        let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")*".repeat(depth));
        assert!(Regexp::compile(&nested(super::translate::MAX_NESTING)).is_ok_and(|regexp| regexp.is_match("a")));
        assert!(Regexp::compile(&nested(super::translate::MAX_NESTING + 1)).is_err());
    }

    #[test]
    fn a_text_splits_as_in_go() {
        let split = |pattern: &str, text, limit| Regexp::compile(pattern).unwrap().split(text, limit).join("|");
        assert_eq!(split("", "abc", usize::MAX), "a|b|c");
        assert_eq!(split("b*", "abc", usize::MAX), "a|c");
        assert_eq!(split("-", "a-b-c", 2), "a|b-c");
        assert_eq!(split("-", "a-", usize::MAX), "a|");
        assert_eq!(split("c", "", usize::MAX), "");
    }
}
