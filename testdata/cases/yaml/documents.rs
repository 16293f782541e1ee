//! Documents and what is read from them: every node with its place, and the findings.

use std::fmt::Write as _;
use std::path::Path;

use fleetwright::text::{File, Span};
use fleetwright::yaml::{Node, Value, parse, print};

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

/// Each `NAME.yaml` has its dump in `NAME.nodes`; SNAPSHOTS=overwrite writes them.
#[test]
fn documents_are_read_as_their_dumps_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/yaml");
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    assert!(paths.len() > 20);
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap();
        let file = File::decode(name, std::fs::read(&path).unwrap()).unwrap();
        snapbox::assert_data_eq!(dump(&file), snapbox::Data::read_from(&path.with_extension("nodes"), None).raw());
    }
}
