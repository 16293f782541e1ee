//! Merges of YAML files, as Helm merges values: mappings are merged by key, and other values are replaced.

use std::sync::Arc;

use crate::text::{File, Index};
use crate::yaml::{ChangedBy, Document, Entry, List, Name, Node, Origin, Parsed, Value, ValueChange, go};

/// The maximum depth of merged mappings. Deeper mappings are replaced.
const MAX_DEPTH: usize = 128;

/// The result of merging files.
#[derive(Debug)]
pub(super) struct Merged {
    /// The merged mapping.
    node: Node,
    /// The first merged file. The result has the path of this file.
    file: File,
}

impl Merged {
    /// Reads a file as one mapping; `None` if the file is not valid.
    pub(super) fn of(parsed: &Parsed) -> Option<Self> {
        let mut node = Node::at(Value::Map(List::default()), parsed.file.first_line());
        for document in parsed.documents.iter().filter(|document| !document.node.is_null()) {
            if !document.node.is_map() || !document.complete {
                return None;
            }
            node = over_mapping(&node, &document.node, 0);
        }
        parsed.findings.is_empty().then(|| Self { node, file: parsed.file.clone() })
    }

    /// Merges another file over this file.
    pub(super) fn with(&self, over: &Self) -> Self {
        Self { node: over_mapping(&self.node, &over.node, 0), file: self.file.clone() }
    }

    /// The file that the controller writes.
    pub(super) fn parsed(&self) -> Parsed {
        let file = File::new(self.file.path(), go::print(&self.node));
        let file = match self.file.root() {
            Some(root) => file.in_root(root.clone()),
            None => file,
        };
        let documents = vec![Document { node: self.node.clone(), complete: true }];
        Parsed { file, documents, findings: Vec::new(), is_cut: false }
    }
}

fn over_mapping(base: &Node, over: &Node, depth: usize) -> Node {
    let mut entries: Vec<Entry> = base.entries().to_vec();
    let places: Index<Name, usize> = entries.iter().enumerate().map(|(at, entry)| (entry.key.clone(), at)).collect();
    for entry in over.entries() {
        match places.get(&entry.key).and_then(|at| entries.get_mut(*at)) {
            Some(known) if known.node.is_map() && entry.node.is_map() && depth < MAX_DEPTH => {
                *known = known.with_node(over_mapping(&known.node, &entry.node, depth + 1));
            }
            Some(known) => *known = known.with_node(replaced(&known.node, &entry.node)),
            None => entries.push(entry.clone()),
        }
    }
    Node { value: Value::Map(entries.into()), origin: base.origin.clone() }
}

fn replaced(base: &Node, over: &Node) -> Node {
    let by = ChangedBy::Patch(over.span().clone());
    let step = ValueChange::new(by, Some(base.origin.clone()), Box::default());
    Node { value: over.value.clone(), origin: Origin::Via(Arc::new(step)) }
}
