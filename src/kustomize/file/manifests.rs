//! The objects of a file, as kustomize reads them.

use std::collections::VecDeque;

use memchr::memmem;

use crate::base::finding::{FaultKind, Finding};
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::text::Span;
use crate::yaml::{Document, Node, Parsed};

/// The content of a manifest file.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// The objects, in kustomize's order.
    pub(crate) objects: Vec<Node>,
    /// The errors for which kustomize rejects the file.
    pub(crate) findings: Vec<Finding>,
}

/// The maximum number of documents of a file that are reported as invalid objects.
const MAX_FINDINGS: usize = 1_000;

/// Reads the objects of a file.
///
/// The items of a list follow the other objects. If the list is the only document, the items replace the list.
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
            // The parser has reported the missing parts of the document.
            queue.retain(|node| object_error(node).is_none());
        }
    }
    while let Some(node) = queue.pop_front() {
        if node.is_null() || (node.is_map() && node.entries().is_empty()) {
            continue;
        }
        if let Some((span, message)) = object_error(&node) {
            if contents.findings.len() >= MAX_FINDINGS {
                continue;
            }
            let finding = Finding::error(FAILED_BUILD, span, message).of_kind(FaultKind::NotAnObject);
            contents.findings.push(finding.help("reference only files with Kubernetes objects"));
            continue;
        }
        let items = node.get("items").filter(|_| is_list(&node));
        match items {
            None => contents.objects.push(node),
            Some(items) if items.is_seq() => queue.extend(items.items().iter().cloned()),
            Some(items) if items.is_null() => {}
            Some(items) => {
                let message = "`items` of this object is not a list; kustomize rejects the object";
                contents.findings.push(Finding::error(FAILED_BUILD, items.span().clone(), message));
            }
        }
    }
    contents
}

/// The items of a list object, or the node itself. An object is a list if its kind ends in `List` and it has `items`.
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

/// The reason why kustomize rejects a node as an object.
fn object_error(node: &Node) -> Option<(Span, &'static str)> {
    if !node.is_map() {
        return Some((node.span().clone(), "this is not a valid object, because it is not a mapping"));
    }
    let key = node.entries().first().map_or_else(|| node.span().clone(), crate::yaml::Entry::key_span);
    if text_at(node, "kind").is_none_or(str::is_empty) {
        let has_name = node.at_keys(&["metadata", "name"]).is_some();
        let message = if has_name {
            "this is not a valid object, because it has no `kind`"
        } else {
            "this is not a valid object, because it has no `kind` and no `metadata.name`"
        };
        return Some((key, message));
    }
    let name = node.at_keys(&["metadata", "name"]);
    let is_named = name.is_some_and(|name| !name.is_null() && name.text().is_some_and(|name| !name.is_empty()));
    if is_named || is_list(node) {
        return None;
    }
    let message = if node.at_keys(&["metadata", "generateName"]).is_some() {
        "kustomize requires `metadata.name`; it does not support `generateName`"
    } else {
        "this is not a valid object, because it has no `metadata.name`"
    };
    Some((name.map_or(key, |name| name.span().clone()), message))
}

/// The documents that kustomize reads. kustomize splits a file at `---` and reads the first document of each part.
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

/// Reports separators that kustomize rejects.
///
/// Only a comment may follow `---`, and no directive may precede the first document.
fn separators(parsed: &Parsed) -> Vec<Finding> {
    let text = parsed.file.text();
    let mut findings = Vec::new();
    let start = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
    if text.get(start..).is_some_and(|text| text.starts_with('%')) {
        let message = "kustomize does not read a file that starts with a directive";
        findings.push(Finding::error(FAILED_BUILD, parsed.file.first_line(), message).help("remove this line"));
    }
    let mut offset = 0;
    while let Some(found) = text.as_bytes().get(offset..).and_then(|rest| memmem::find(rest, b"\n---")) {
        let line = offset + found + 1;
        let Some(length) = text.get(line..).and_then(|rest| rest.find('\n')) else { break };
        let rest_of_line = text.get(line + 3..line + length).unwrap_or_default().trim();
        if !rest_of_line.is_empty() && !rest_of_line.starts_with('#') {
            let message = "kustomize only allows a comment after `---`";
            let span = parsed.file.span(line..line + length);
            findings.push(Finding::error(FAILED_BUILD, span, message).help("start the document on the next line"));
        }
        offset = line + length + 1;
    }
    findings
}
