//! The prefixes among sorted texts.

/// For each of some sorted texts, the position of the longest other one with which it starts.
pub(super) fn prefixes<T: AsRef<str>>(sorted: &[T]) -> Vec<Option<usize>> {
    let mut prefixes = Vec::with_capacity(sorted.len());
    let mut open: Vec<usize> = Vec::new();
    for (at, text) in sorted.iter().enumerate() {
        let is_prefix = |last: usize| sorted.get(last).is_some_and(|prefix| text.as_ref().starts_with(prefix.as_ref()));
        while open.pop_if(|last| !is_prefix(*last)).is_some() {}
        prefixes.push(open.last().copied());
        open.push(at);
    }
    prefixes
}
