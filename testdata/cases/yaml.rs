//! YAML documents: every node of `NAME.yaml` with its place, and the findings, in `NAME.nodes`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fleetwright::text::{File, Span};
use fleetwright::yaml::{Node, Value, parse, print};
use libtest_mimic::Trial;

use crate::support::{entries, name, testdata};
use crate::{Outcome, compare, trials as trials_of};

pub(crate) fn trials() -> Vec<Trial> {
    let root = testdata("yaml");
    let is_document = |path: &PathBuf| path.extension().is_some_and(|end| end == "yaml");
    trials_of("yaml", &root, entries(&root).into_iter().filter(is_document).collect(), check)
}

fn check(case: &Path) -> Outcome {
    let file = File::decode(name(case), std::fs::read(case)?).unwrap();
    compare(dump(&file), &case.with_extension("nodes"))
}

/// Writes each node as `line:column style token`, keys and items indented below their collection.
fn dump(file: &File) -> String {
    let parsed = parse(file);
    let mut out = String::new();
    for document in &parsed.documents {
        out.push_str(if document.complete { "document\n" } else { "document, up to an error\n" });
        node(&mut out, &document.node, 1);
    }
    for finding in &parsed.findings {
        let _ = writeln!(out, "{} {}: {}", finding.severity, finding.rule, finding.message);
        let _ = writeln!(out, "  at {}", place(&finding.at.span));
        for related in &finding.related {
            let _ = writeln!(out, "  and {}: {}", place(&related.span), related.message);
        }
        if let Some(help) = &finding.help {
            let _ = writeln!(out, "  help: {help}");
        }
    }
    let nodes: Vec<Node> = parsed.documents.into_iter().map(|document| document.node).collect();
    let _ = write!(out, "printed\n{}", print(&nodes));
    out
}

fn place(span: &Span) -> String {
    let (start, end) = (span.position(), span.end_position());
    format!("{}:{}-{}:{} {:?}", start.line, start.column, end.line, end.column, span.text())
}

fn node(out: &mut String, of: &Node, depth: usize) {
    let pad = "  ".repeat(depth);
    match &of.value {
        Value::Scalar(text, style) => {
            let _ = writeln!(out, "{pad}{style:?} {text:?} at {}", place(of.span()));
        }
        Value::Seq(items) => {
            let _ = writeln!(out, "{pad}Seq at {}", place(of.span()));
            items.iter().for_each(|item| node(out, item, depth + 1));
        }
        Value::Map(entries) => {
            let _ = writeln!(out, "{pad}Map at {}", place(of.span()));
            for entry in entries.iter() {
                let _ = writeln!(out, "{pad}  key {:?} at {}", entry.key, place(&entry.key_span()));
                node(out, &entry.node, depth + 2);
            }
        }
    }
}
