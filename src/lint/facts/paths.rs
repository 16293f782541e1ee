//! Parts of paths.

/// Every sequence of consecutive segments of a path.
///
/// The directory of an applier starts at the root of its source, and a source may be anywhere in the tree.
pub(crate) fn segment_runs(path: &str) -> impl Iterator<Item = &str> {
    let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    let rests = starts.filter_map(|start| path.get(start..)).filter(|rest| !rest.is_empty());
    rests.flat_map(prefixes)
}

/// The directories above a path, outermost first, and the path itself.
pub(crate) fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    ends.filter_map(|end| path.get(..end))
}
