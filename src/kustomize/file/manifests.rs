//! The objects of a file, as kustomize reads them.

use std::collections::VecDeque;

use crate::base::finding::Finding;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::text::Span;
use crate::yaml::{Document, Node, Parsed};

/// What a file holds.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Its objects, in the order in which kustomize takes them.
    pub(crate) objects: Vec<Node>,
    /// What kustomize refuses.
    pub(crate) findings: Vec<Finding>,
}

/// Reads the objects of a file. A list counts as its items, and those come after all that stands beside it; the one
/// list of a file counts in its place.
pub(crate) fn objects_of(parsed: &Parsed) -> Contents {
    let mut contents = Contents { objects: Vec::new(), findings: separators(parsed) };
    let documents = read_documents(parsed);
    let mut queue: VecDeque<Node> = VecDeque::new();
    for document in &documents {
        let node = &document.node;
        let is_only_list = documents.len() == 1 && text_at(node, "kind") == Some("List") && node.get("items").is_some();
        if is_only_list {
            queue.extend(node.get("items").map_or(&[][..], Node::items).iter().cloned());
        } else {
            queue.push_back(node.clone());
        }
        if !document.complete {
            // What is missing of it is said already, and what was read of it is no more than a part.
            queue.retain(|node| object_error(node).is_none());
        }
    }
    while let Some(node) = queue.pop_front() {
        if node.is_null() || (node.is_map() && node.entries().is_empty()) {
            continue;
        }
        if let Some((span, message)) = object_error(&node) {
            let finding = Finding::error(FAILED_BUILD, span, message);
            contents.findings.push(finding.help("name only files that hold Kubernetes objects"));
            continue;
        }
        let items = node.get("items").filter(|_| is_list(&node));
        match items {
            None => contents.objects.push(node),
            Some(items) if items.is_seq() => queue.extend(items.items().iter().cloned()),
            Some(items) if items.is_null() => {}
            Some(items) => {
                let message = "the `items` of a list are no list, and kustomize refuses that";
                contents.findings.push(Finding::error(FAILED_BUILD, items.span().clone(), message));
            }
        }
    }
    contents
}

/// The items of a `List` object, or the node itself. Any kind that ends in `List` and has `items` is one.
pub fn expand_list(node: &Node) -> Vec<Node> {
    match node.get("items").filter(|_| is_list(node)) {
        Some(items) => items.items().iter().flat_map(expand_list).collect(),
        None => vec![node.clone()],
    }
}

fn is_list(node: &Node) -> bool {
    text_at(node, "kind").is_some_and(|kind| kind.ends_with("List"))
}

fn text_at<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    node.get(key).filter(|node| !node.is_null()).and_then(Node::text)
}

/// Why kustomize does not take a node for an object.
fn object_error(node: &Node) -> Option<(Span, &'static str)> {
    if !node.is_map() {
        return Some((node.span().clone(), "kustomize takes this for an object, and it is no mapping"));
    }
    let key = node.entries().first().map_or_else(|| node.span().clone(), crate::yaml::Entry::key_span);
    if text_at(node, "kind").is_none_or(str::is_empty) {
        let has_name = node.at_keys(&["metadata", "name"]).is_some();
        let message = if has_name {
            "kustomize takes this for an object, and it has no `kind`"
        } else {
            "kustomize takes this for an object, and it has no `kind` and `metadata.name`"
        };
        return Some((key, message));
    }
    let name = node.at_keys(&["metadata", "name"]);
    let is_named = name.is_some_and(|name| !name.is_null() && name.text().is_some_and(|name| !name.is_empty()));
    if is_named || is_list(node) {
        return None;
    }
    let message = if node.at_keys(&["metadata", "generateName"]).is_some() {
        "kustomize builds no object without `metadata.name`, though Kubernetes would make one of `generateName`"
    } else {
        "kustomize takes this for an object, and it has no `metadata.name`"
    };
    Some((name.map_or(key, |name| name.span().clone()), message))
}

/// The documents that kustomize reads: it splits files at `---` and takes the first document of each piece.
fn read_documents(parsed: &Parsed) -> Vec<&Document> {
    let text = parsed.file.text();
    let mut end = None;
    let mut documents = Vec::new();
    for document in &parsed.documents {
        let range = document.node.span().range();
        let between = end.and_then(|end| text.get(end..range.start));
        if between.is_none_or(|between| between.starts_with("---") || between.contains("\n---")) {
            documents.push(document);
        }
        end = Some(range.end);
    }
    documents
}

/// Lines that kustomize takes for separators and does not understand: it allows nothing but a comment beside `---`, and
/// no directive before the first one.
fn separators(parsed: &Parsed) -> Vec<Finding> {
    let text = parsed.file.text();
    let mut findings = Vec::new();
    let start = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
    if text.get(start..).is_some_and(|text| text.starts_with('%')) {
        let message = "kustomize does not read a file that begins with a directive";
        findings.push(Finding::error(FAILED_BUILD, parsed.file.first_line(), message).help("remove this line"));
    }
    let mut offset = 0;
    while let Some(found) = text.get(offset..).and_then(|rest| rest.find("\n---")) {
        let line = offset + found + 1;
        let Some(length) = text.get(line..).and_then(|rest| rest.find('\n')) else { break };
        let rest_of_line = text.get(line + 3..line + length).unwrap_or_default().trim();
        if !rest_of_line.is_empty() && !rest_of_line.starts_with('#') {
            let message = "kustomize allows nothing but a comment beside `---`";
            let span = parsed.file.span(line..line + length);
            findings.push(Finding::error(FAILED_BUILD, span, message).help("begin the document on the next line"));
        }
        offset = line + length + 1;
    }
    findings
}
