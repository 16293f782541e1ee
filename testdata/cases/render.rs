//! Layouts: a directory with a fleet and its layout, and the files that it renders, or the findings.

use std::fmt::Write as _;
use std::path::Path;

use fleetwright::base::finding::{Finding, Label};
use fleetwright::fleet::{Loaded, load};
use fleetwright::render::{Rendered, render};
use fleetwright::text::Tree;
use libtest_mimic::Trial;

use crate::support::{entries, testdata, tree_of};
use crate::{Outcome, compare, trials as trials_of};

pub(crate) fn trials() -> Vec<Trial> {
    let root = testdata("render");
    trials_of("render", &root, entries(&root), check)
}

fn check(case: &Path) -> Outcome {
    let mut tree = tree_of(case);
    tree.remove("expected.txt");
    let (loaded, rendered) = rendered(&tree);
    let mut text = said(&loaded.findings) + &said(&rendered.findings);
    if rendered.findings.is_empty() {
        for file in rendered.tree.files() {
            write!(text, "== {}\n{}", file.path(), file.text()).unwrap();
        }
    }
    compare(text, &case.join("expected.txt"))
}

/// The fleet of a tree, and the files that it renders.
pub(crate) fn rendered(tree: &Tree) -> (Loaded, Rendered) {
    let loaded = load(tree, "fleet.yaml");
    assert!(loaded.fleet.is_some(), "{}", said(&loaded.findings));
    let rendered = render(loaded.fleet.as_ref().unwrap(), loaded.layout.as_ref().unwrap());
    (loaded, rendered)
}

/// Findings with their help and their related places.
pub(crate) fn said(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let line = |label: &Label| {
            let position = label.span.position();
            format!("{}:{}:{} {}", label.span.file().path(), position.line, position.column, label.message)
        };
        writeln!(text, "{}{}[{}] {}", line(&finding.at), finding.severity, finding.rule, finding.message).unwrap();
        finding.help.iter().for_each(|help| writeln!(text, "    help: {help}").unwrap());
        finding.related.iter().for_each(|related| writeln!(text, "    {}", line(related)).unwrap());
    }
    text
}
