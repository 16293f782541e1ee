//! `render --check --summary`: the number of changes in each directory.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::render::Change;
use crate::report::printable;

/// The maximum number of lines with directories of two levels; a larger fleet has one line for each directory of the
/// first level.
const MOST: usize = 40;

/// The numbers of files to add, to change and to remove.
#[derive(Default)]
struct Counts([usize; 3]);

/// Writes the number of changes in each directory.
pub(super) fn write<'a>(changes: impl Iterator<Item = &'a Change>, out: &mut dyn Write) -> io::Result<()> {
    let changes: Vec<&Change> = changes.collect();
    let mut counts = by_folder(&changes, 2);
    if counts.len() > MOST {
        counts = by_folder(&changes, 1);
    }
    let width = counts.keys().map(|folder| folder.chars().count()).max().unwrap_or_default();
    for (folder, Counts(counts)) in &counts {
        let kinds = counts.iter().zip(["add", "change", "remove"]).filter(|(count, _)| **count > 0);
        let kinds: Vec<String> = kinds.map(|(count, what)| format!("{count} to {what}")).collect();
        writeln!(out, "{folder:width$}  {}", kinds.join(", "))?;
    }
    Ok(())
}

/// Counts the changes by the first parts of their directories.
fn by_folder(changes: &[&Change], depth: usize) -> BTreeMap<String, Counts> {
    let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
    for change in changes {
        let parts: Vec<&str> = crate::text::folder_of(&change.path).split('/').take(depth).collect();
        let folder = parts.join("/");
        let folder = if folder.is_empty() { ".".to_owned() } else { printable(&folder).to_string() };
        let kind = match (&change.old, &change.new) {
            (None, Some(_)) => 0,
            (_, Some(_)) => 1,
            (_, None) => 2,
        };
        if let Some(count) = counts.entry(folder).or_default().0.get_mut(kind) {
            *count += 1;
        }
    }
    counts
}
