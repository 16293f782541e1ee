//! The result of a command that judges: findings, counts, and paths as the user types them.

use super::printable::printable;
use super::summary::{Judged, Summary};
use crate::base::finding::Finding;
use crate::text::File;

/// What a judgement comes to: findings, sorted, and how much was looked at.
#[derive(Debug, Clone)]
pub struct Report {
    /// The findings, sorted by path and place.
    pub findings: Vec<Finding>,
    /// How many there are, and of how much.
    pub summary: Summary,
    /// The folder that the findings' paths start in, as a person would type it here; empty for this folder.
    pub root: String,
}

impl Report {
    /// Sorts and counts findings.
    pub fn new(mut findings: Vec<Finding>, judged: Judged, root: impl Into<String>) -> Self {
        crate::base::finding::sort(&mut findings);
        let summary = Summary::of(&findings, judged);
        Self { findings, summary, root: root.into() }
    }

    /// The path of a finding's file as a person would type it here.
    pub fn shown(&self, file: &File) -> String {
        shown_path(&self.root, file)
    }

    /// A path of the tree that was judged as a person would type it here.
    pub fn shown_path(&self, path: &str) -> String {
        shown_below(&self.root, path)
    }
}

fn shown_below(root: &str, path: &str) -> String {
    let shown = match root.trim_end_matches('/') {
        "" if root.is_empty() => path.to_owned(),
        folder => format!("{folder}/{path}"),
    };
    printable(&shown).into_owned()
}

/// The path of a file as a person would type it here, where `root` is the folder that was read.
pub fn shown_path(root: &str, file: &File) -> String {
    shown_below(file.root().map_or(root, |root| root), file.path())
}
