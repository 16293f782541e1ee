//! The globs of a copy's `from`: Go's globs, in which `**` matches one segment, like `*`.

use std::collections::BTreeSet;

use crate::flux::source::wildcard::{self, BadPattern};
use crate::text::Tree;

/// Returns whether a path is a glob.
pub(super) fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '[', ']'])
}

/// The files and directories that a glob matches.
///
/// A glob matches nothing if the path before the first wildcard is not normalized: `./x/*`, `x//*`, `../*`.
pub(super) fn find(tree: &Tree, glob: &str) -> Result<Vec<String>, BadPattern> {
    wildcard::matches(glob, "")?;
    let segments: Vec<&str> = glob.split('/').collect();
    let has_wildcard = |segment: &str| segment.contains(['*', '?', '[', '\\']);
    let Some(first) = segments.iter().position(|segment| has_wildcard(segment)) else {
        let is_there = is_plain(&segments) && (tree.has_file(glob) || tree.has_folder(glob));
        return Ok(if is_there { vec![glob.to_owned()] } else { Vec::new() });
    };
    let (start, rest) = segments.split_at(first);
    if !is_plain(start) {
        return Ok(Vec::new());
    }
    let mut found = vec![start.join("/")];
    for pattern in rest {
        let mut next = Vec::new();
        for folder in found {
            for name in names(tree, &folder) {
                if wildcard::matches(pattern, name)? {
                    next.push(if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") });
                }
            }
        }
        found = next;
    }
    Ok(found)
}

/// The part of a glob before its first wildcard.
pub(super) fn literal_start(glob: &str) -> String {
    let cleaned = super::paths::clean(glob);
    cleaned.split('/').take_while(|segment| !is_glob(segment)).collect::<Vec<_>>().join("/")
}

fn is_plain(segments: &[&str]) -> bool {
    segments.iter().all(|segment| !matches!(*segment, "" | "." | ".."))
}

/// The names in a directory, sorted.
pub(super) fn names<'a>(tree: &'a Tree, folder: &str) -> BTreeSet<&'a str> {
    let start = if folder.is_empty() { 0 } else { folder.len() + 1 };
    tree.under(folder).filter_map(|path| path.get(start..)?.split('/').next()).collect()
}
