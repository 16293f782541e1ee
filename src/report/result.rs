//! The report of a linter run: findings, counts, and displayed paths.

use super::mask::Masks;
use super::printable::printable;
use super::summary::{Coverage, Summary};
use crate::base::finding::Finding;
use crate::text::File;

/// The sorted findings of a linter run, with counts.
#[derive(Debug, Clone)]
pub struct Report {
    /// The findings, sorted by path and position.
    pub findings: Vec<Finding>,
    /// The numbers of findings, objects and files.
    pub summary: Summary,
    /// The directory that the findings' paths are relative to, as it was typed; empty for the current directory.
    pub root: String,
    /// The masks of the files that are known.
    pub masks: Masks,
}

impl Report {
    /// Creates a report: sorts and counts the findings.
    pub fn new(mut findings: Vec<Finding>, coverage: Coverage, root: impl Into<String>) -> Self {
        crate::base::group_findings::sort(&mut findings);
        let summary = Summary::new(&findings, coverage);
        bound(&mut findings);
        Self { findings, summary, root: root.into(), masks: Masks::default() }
    }

    /// Returns the path of a file relative to the current directory.
    pub fn display_path(&self, file: &File) -> String {
        display_path(&self.root, file)
    }

    /// Returns a path of the linted tree relative to the current directory.
    pub fn display_tree_path(&self, path: &str) -> String {
        join_root(&self.root, path)
    }
}

/// The maximum number of findings of a report. The summary counts all of them.
const MAX_FINDINGS: usize = 20_000;

/// The maximum length of a message in bytes. A message may quote names of any length.
const MAX_MESSAGE: usize = 4_000;

/// Removes the least severe findings above the maximum, and shortens long messages.
fn bound(findings: &mut Vec<Finding>) {
    if findings.len() > MAX_FINDINGS {
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings.truncate(MAX_FINDINGS);
        crate::base::group_findings::sort(findings);
    }
    for finding in findings {
        let labels = finding.related.iter_mut().chain(finding.others.iter_mut().flat_map(|others| &mut others.places));
        labels.for_each(|label| shorten(&mut label.message));
        shorten(&mut finding.message);
        shorten(&mut finding.at.message);
        finding.help.iter_mut().for_each(shorten);
    }
}

fn shorten(text: &mut String) {
    if text.len() > MAX_MESSAGE {
        text.truncate(text.floor_char_boundary(MAX_MESSAGE));
        text.push('…');
    }
}

fn join_root(root: &str, path: &str) -> String {
    let shown = match root.trim_end_matches('/') {
        "" if root.is_empty() => path.to_owned(),
        folder => format!("{folder}/{path}"),
    };
    printable(&shown).into_owned()
}

/// Returns the path of a file relative to the current directory, where `root` is the directory of the tree.
pub fn display_path(root: &str, file: &File) -> String {
    join_root(file.root().map_or(root, |root| root), file.path())
}
