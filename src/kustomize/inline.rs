//! YAML inside a scalar of YAML, such as `patch: |`: its nodes get their places in the outer file.

use crate::text::{File, Span};
use crate::yaml::{Document, Inside, Node, parse};

/// The documents in a scalar's text, and what is wrong with them, each at its place in the scalar's file.
pub(super) fn parse_inside(scalar: &Node) -> (Vec<Document>, Vec<crate::finding::Finding>) {
    let Some(text) = scalar.text() else { return (Vec::new(), Vec::new()) };
    let inner = File::new(scalar.span().file().path(), text.to_string());
    let parsed = parse(&inner);
    // What a variable made by now, the one that brings the applier has substituted.
    let inside = Inside::handed_down(scalar);
    let place = |span: &Span| inside.span(span.range()).unwrap_or_else(|| scalar.span().clone());
    let documents = parsed.documents.iter();
    let documents =
        documents.map(|document| Document { node: inside.node(&document.node), complete: document.complete }).collect();
    let findings = parsed.findings.into_iter().map(|mut finding| {
        finding.at.span = place(&finding.at.span);
        for label in &mut finding.related {
            label.span = place(&label.span);
        }
        finding
    });
    (documents, findings.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_inside_a_block_scalar_stands_at_its_line_in_the_file() {
        let file = File::new("kustomization.yaml", "patches:\n  - patch: |\n      - op: add\n        value: ö x\n");
        let parsed = parse(&file);
        let patch = parsed.documents[0].node.get("patches").unwrap().items()[0].get("patch").unwrap().clone();
        let (documents, findings) = parse_inside(&patch);
        assert!(findings.is_empty());
        let value = documents[0].node.items()[0].get("value").unwrap();
        assert_eq!((value.span().text(), value.span().position().line), ("ö x", 4));
        let entry = documents[0].node.items()[0].entry("op").unwrap();
        assert_eq!(entry.key_span().text(), "op");
    }
}
