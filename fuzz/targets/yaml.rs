//! Targets for YAML: the parser and the printer.

use fleetwright::text::File;
use fleetwright::yaml::{Node, Reader, Value, parse as parse_yaml, print as print_yaml, to_json};

const READERS: [Reader; 3] = [Reader::Kubernetes, Reader::Kustomize, Reader::Core];

/// Parses text: each position is in the text, and each child is inside its parent.
pub(crate) fn parse(data: &[u8]) {
    let Ok(file) = File::decode("fuzz.yaml", data.to_vec()) else { return };
    let parsed = parse_yaml(&file);
    assert!(
        parsed.documents.iter().all(|document| document.complete) || !parsed.findings.is_empty(),
        "an incomplete document has a finding"
    );
    for document in &parsed.documents {
        check_places(&document.node);
    }
}

/// Prints the parsed nodes: the parser reads the same values back, and the printer prints the same text again.
pub(crate) fn print(data: &[u8]) {
    let Ok(file) = File::decode("fuzz.yaml", data.to_vec()) else { return };
    let nodes: Vec<Node> = parse_yaml(&file).documents.into_iter().map(|document| document.node).collect();
    check_print(&nodes);
}

/// Checks that the printed text of nodes has the same values.
pub(crate) fn check_print(nodes: &[Node]) {
    let (text, again) = check_stable(nodes);
    for (node, again) in nodes.iter().zip(&again) {
        for reader in READERS {
            assert_eq!(to_json(node, reader), to_json(again, reader), "{reader:?} of\n{text}");
        }
    }
}

/// Checks that the parser reads the printed text of nodes, and that the printer prints it again. Returns both.
pub(crate) fn check_stable(nodes: &[Node]) -> (String, Vec<Node>) {
    let text = print_yaml(nodes);
    let parsed = parse_yaml(&File::new("printed.yaml", text.as_str()));
    assert!(parsed.findings.is_empty(), "{:?}\nin\n{text}", parsed.findings);
    let again: Vec<Node> = parsed.documents.into_iter().map(|document| document.node).collect();
    assert_eq!(nodes.len(), again.len(), "{text}");
    assert_eq!(print_yaml(&again), text);
    (text, again)
}

/// Checks the positions of a tree. The nodes of an alias or a merge are elsewhere.
pub(crate) fn check_places(node: &Node) {
    let outer = node.span().range();
    if node.span().text().starts_with('*') {
        return;
    }
    let inside = |inner: &std::ops::Range<usize>| outer.start <= inner.start && inner.end <= outer.end;
    match &node.value {
        Value::Scalar(..) => {}
        Value::Seq(items) => {
            for item in items.iter() {
                assert!(inside(&item.span().range()), "{:?} in {:?}", item.span(), node.span());
                check_places(item);
            }
        }
        Value::Map(entries) => {
            for entry in entries.iter() {
                let (key, value) = (entry.key_span().range(), entry.node.span().range());
                if inside(&key) {
                    assert!(inside(&value), "{:?} in {:?}", entry.node.span(), node.span());
                    assert!(key.end <= value.start, "{:?} before {:?}", entry.key_span(), entry.node.span());
                    check_places(&entry.node);
                }
            }
        }
    }
}
