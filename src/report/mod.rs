//! Findings and differences → text and the formats of other tools.

mod provenance;
mod summary;
pub mod json;
pub mod access;
mod github;
pub mod graph;
pub mod mask;
mod text;
pub mod build;
pub mod diff;
pub mod trace;

use std::io::{self, Write};

use crate::base::finding::Finding;
use crate::text::File;

pub use summary::{Judged, Summary, counted};
pub use text::printable;

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

/// A way to write a report.
#[derive(Debug)]
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is for, in a few words.
    pub about: &'static str,
    /// Writes the findings, which are the result of the command.
    pub write: fn(&Report, &mut dyn Write) -> io::Result<()>,
    /// Where the summary line goes.
    pub summary: SummaryLine,
}

/// Where the line goes that says how many findings there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryLine {
    /// After the findings: a person reads both.
    Result,
    /// Beside the result, which a program reads.
    Talk,
}

/// Every format; the first is the default, and the one that a person reads.
pub const FORMATS: &[Format] = &[
    Format { name: "text", about: "source lines for people", write: text::write, summary: SummaryLine::Result },
    Format { name: "json", about: "JSON for programs", write: json::write, summary: SummaryLine::Talk },
    Format { name: "github", about: "annotations on GitHub", write: github::write, summary: SummaryLine::Talk },
];
