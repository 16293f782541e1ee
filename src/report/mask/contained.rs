//! The search for the values that some texts contain.

use arcstr::ArcStr;

use super::prefixes::prefixes;
use crate::text::Index;

/// The values that occur in texts.
///
/// Values may be parts of one another, so a text may have many of them at each position. The search examines a value once:
/// if a text contains a value, it contains each prefix of it, and the shorter ones are found with the first one.
pub(super) struct Contained<'a> {
    /// The values, sorted.
    values: Vec<&'a ArcStr>,
    /// For each value, the position of the longest other one with which it starts.
    prefixes: Vec<Option<usize>>,
    /// The positions of the values with each first byte.
    starts: Index<u8, (usize, usize)>,
    /// Whether each value occurs.
    is_found: Vec<bool>,
}

impl<'a> Contained<'a> {
    pub(super) fn new(values: &[&'a ArcStr]) -> Self {
        let mut values: Vec<&ArcStr> = values.iter().copied().filter(|value| !value.is_empty()).collect();
        values.sort_unstable();
        values.dedup();
        let mut starts: Index<u8, (usize, usize)> = Index::default();
        for (at, value) in values.iter().enumerate() {
            if let Some(first) = value.as_bytes().first() {
                starts.entry_or(*first, || (at, at)).1 = at + 1;
            }
        }
        let texts: Vec<&str> = values.iter().map(|value| &***value).collect();
        let is_found = vec![false; values.len()];
        Self { prefixes: prefixes(&texts), values, starts, is_found }
    }

    /// Searches a text.
    pub(super) fn search(&mut self, text: &str) {
        for at in 0..text.len() {
            let rest = text.as_bytes().get(at..).unwrap_or_default();
            let of_start = rest.first().and_then(|first| self.starts.get(first));
            if let Some((start, end)) = of_start.copied() {
                self.search_at(rest, start, end);
            }
        }
    }

    /// Marks the values of a range with which a text starts.
    fn search_at(&mut self, text: &[u8], start: usize, end: usize) {
        let candidates = self.values.get(start..end).unwrap_or_default();
        // Each value with which the text starts is the last one that is not greater, or a prefix of it.
        let after = candidates.partition_point(|value| value.as_bytes() <= text);
        let Some(last) = after.checked_sub(1).map(|last| start + last) else { return };
        let bytes = self.values.get(last).map(|value| value.as_bytes()).unwrap_or_default();
        let common = bytes.iter().zip(text).take_while(|(a, b)| a == b).count();
        let mut next = Some(last);
        while let Some(at) = next {
            if self.values.get(at).is_some_and(|value| value.len() <= common) {
                match self.is_found.get_mut(at) {
                    Some(is_found) if !*is_found => *is_found = true,
                    // Its prefixes were found with it.
                    _ => return,
                }
            }
            next = self.prefixes.get(at).copied().flatten();
        }
    }

    /// The values that occur.
    pub(super) fn found(self) -> impl Iterator<Item = ArcStr> {
        self.values.into_iter().zip(self.is_found).filter(|(_, is_found)| *is_found).map(|(value, _)| value.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_within_values_are_found() {
        let values = ["ab", "abc", "abcd", "b", "bce", "x/y", "z"].map(ArcStr::from);
        let mut contained = Contained::new(&values.iter().collect::<Vec<_>>());
        contained.search("0abcx");
        contained.search("/x/y/");
        assert_eq!(contained.found().collect::<Vec<_>>(), ["ab", "abc", "b", "x/y"]);
    }
}
