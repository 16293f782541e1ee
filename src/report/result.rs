//! The report of a linter run: findings, counts, and displayed paths.

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
}

impl Report {
    /// Creates a report: sorts and counts the findings.
    pub fn new(mut findings: Vec<Finding>, coverage: Coverage, root: impl Into<String>) -> Self {
        crate::base::group_findings::sort(&mut findings);
        let summary = Summary::new(&findings, coverage);
        Self { findings, summary, root: root.into() }
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
