//! The conventional order of an object's fields.

use crate::yaml::tree::node::{Entry, Node, Value};

const OBJECT: &[&str] = &["apiVersion", "kind", "metadata", "spec"];
const METADATA: &[&str] = &["name", "generateName", "namespace", "labels", "annotations"];

/// Sorts the fields of an object in conventional order: `apiVersion`, `kind`, `metadata`, `spec`, then the others.
///
/// Also moves `name`, `generateName`, `namespace`, `labels` and `annotations` of `metadata` first. Returns other nodes
/// unchanged.
#[must_use]
pub fn conventional_order(node: &Node) -> Node {
    if node.get("apiVersion").is_none() || node.get("kind").is_none() {
        return node.clone();
    }
    let mut node = move_first(node, OBJECT);
    if let Some(entry) = node.entry("metadata") {
        node = node.with(entry.with_node(move_first(&entry.node, METADATA)));
    }
    node
}

/// Moves these keys of a mapping to the front, in this order.
fn move_first(node: &Node, keys: &[&str]) -> Node {
    let Value::Map(entries) = &node.value else { return node.clone() };
    let rank = |entry: &Entry| keys.iter().position(|key| *key == &*entry.key).unwrap_or(keys.len());
    if entries.is_sorted_by_key(rank) {
        return node.clone();
    }
    let mut entries = entries.to_vec();
    entries.sort_by_key(rank);
    Node { value: Value::Map(entries.into()), origin: node.origin.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::File;
    use crate::yaml::{parse, print};

    #[test]
    fn the_fields_of_an_object_are_in_conventional_order() {
        let text = "data: {}\nspec: 1\nmetadata:\n  labels: {}\n  uid: 1\n  name: a\nkind: B\napiVersion: v1\n";
        let node = parse(&File::new("a.yaml", text)).documents.remove(0).node;
        let expected = "apiVersion: v1\nkind: B\nmetadata:\n  name: a\n  labels: {}\n  uid: 1\nspec: 1\ndata: {}\n";
        assert_eq!(print(&[conventional_order(&node)]), expected);
    }
}
