//! The comparison of names, for suggestions.

/// The candidate that is most similar to `typed`, if a candidate is similar enough.
///
/// There is no suggestion among more than `MAX_CANDIDATES` candidates.
pub fn did_you_mean<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if typed.len() > MAX_NAME {
        return None;
    }
    let candidates: Vec<&str> = candidates.into_iter().take(MAX_CANDIDATES + 1).collect();
    if candidates.len() > MAX_CANDIDATES {
        return None;
    }
    let allowed = (typed.chars().count() / 3).clamp(1, 4);
    let letters = Letters::of(typed);
    let candidates = || candidates.iter().copied().filter(|candidate| candidate.len() <= MAX_NAME);
    let bounds = candidates().map(|candidate| (letters.least_distance(&Letters::of(candidate)), candidate));
    let mut near: Vec<(usize, &str)> = bounds.filter(|(least, _)| *least <= allowed).collect();
    near.sort_unstable();
    let (mut found, mut steps): (Option<(usize, &str)>, usize) = (None, 0);
    for (least, candidate) in near {
        steps += typed.len() * candidate.len();
        if steps > MAX_STEPS || found.is_some_and(|(distance, _)| distance < least) {
            break;
        }
        let distance = distance(typed, candidate);
        let is_better = found.is_none_or(|found| (distance, candidate) < found);
        found = Some((distance, candidate)).filter(|_| distance <= allowed && is_better).or(found);
    }
    // A short name may be an abbreviation, such as `prod` for `production`.
    let is_short_for = |candidate: &&str| typed.len() >= 3 && candidate.starts_with(typed);
    let abbreviated = || candidates().filter(is_short_for).min_by_key(|candidate| candidate.len());
    found.map(|(_, candidate)| candidate).or_else(abbreviated)
}

/// The maximum number of candidates for a suggestion.
pub const MAX_CANDIDATES: usize = 1_000;
/// The maximum number of steps of the comparisons for a suggestion: the products of the lengths of the names.
const MAX_STEPS: usize = 100_000;

/// The numbers of bytes in a name, without the distinctions that [`distance`] ignores.
struct Letters {
    counts: [u16; 64],
    is_ascii: bool,
}

impl Letters {
    fn of(name: &str) -> Self {
        let mut counts = [0; 64];
        for byte in name.bytes().filter(|byte| !matches!(byte, b'-' | b'_')) {
            counts[usize::from(byte.to_ascii_lowercase() % 64)] += 1;
        }
        Self { counts, is_ascii: name.is_ascii() }
    }

    /// A lower bound of the distance of two names: an error changes at most two of the counts by one.
    fn least_distance(&self, other: &Self) -> usize {
        if !self.is_ascii || !other.is_ascii {
            return 0;
        }
        let pairs = self.counts.iter().zip(&other.counts);
        let (more, less) = pairs.fold((0, 0), |(more, less), (one, other)| {
            (more + usize::from(one.saturating_sub(*other)), less + usize::from(other.saturating_sub(*one)))
        });
        more.max(less)
    }
}

/// Returns whether two names differ in less than a third of their characters, and in no whole word.
///
/// The names of programs are short and similar. For example, `web-info` is not a misspelling of `web-env`.
pub fn is_almost(typed: &str, meant: &str) -> bool {
    typed.len().max(meant.len()) <= MAX_NAME
        && distance(typed, meant) * 3 < typed.len().max(MIN_WORD)
        && !has_other_word(typed, meant)
}

/// Returns whether two names with the same number of words have different words at one position.
fn has_other_word(typed: &str, meant: &str) -> bool {
    let words = || typed.split('-').zip(meant.split('-'));
    let is_other = |(one, other): (&str, &str)| distance(one, other) * 2 > one.len().max(other.len());
    typed.split('-').count() == meant.split('-').count() && words().any(is_other)
}

/// The minimum length of a word that may contain a typing error. A shorter word is more likely a number or a stage.
pub const MIN_WORD: usize = 4;

/// The maximum length of a name that is compared. The time of a comparison is the product of both lengths.
const MAX_NAME: usize = 260;

/// Returns whether two texts differ in one character.
pub fn differ_in_one(one: &str, other: &str) -> bool {
    one != other && one.len().abs_diff(other.len()) <= 1 && distance(one, other) == 1
}

/// The number of typing errors between two names. The case, hyphens and underscores are not significant.
fn distance(one: &str, other: &str) -> usize {
    let folded = |text: &str| text.to_ascii_lowercase().replace(['-', '_'], "");
    strsim::damerau_levenshtein(&folded(one), &folded(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_name_is_suggested() {
        assert_eq!(did_you_mean("dependson", ["path", "dependsOn"]), Some("dependsOn"));
        assert_eq!(did_you_mean("stagging", ["production", "staging"]), Some("staging"));
        assert_eq!(did_you_mean("prod", ["production", "staging"]), Some("production"));
        assert_eq!(did_you_mean("colour", ["path", "prune"]), None);
        assert_eq!(did_you_mean(&"a".repeat(30_000), [&*"a".repeat(30_001)]), None);
    }
}
