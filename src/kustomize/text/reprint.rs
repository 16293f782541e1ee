//! The effect of kustomize's printing and parsing of its output on strings.

use crate::yaml::{Entry, Node, Style, Value, go};

/// The object after kustomize's output is parsed: the line breaks of folded blocks differ.
///
/// Subtrees without such a string are shared.
pub(crate) fn reprint_node(node: &Node) -> Node {
    changed(node).unwrap_or_else(|| node.clone())
}

/// The node with its printed strings; `None` if all strings are unchanged.
fn changed(node: &Node) -> Option<Node> {
    let value = match &node.value {
        Value::Scalar(text, style) => {
            let printed = go::normalized(text, *style);
            if *printed == **text {
                return None;
            }
            // A literal block does not change when it is printed again.
            let style = if *style == Style::Folded { Style::Literal } else { *style };
            Value::Scalar(printed.into_owned().into(), style)
        }
        Value::Seq(items) => {
            let (first, item) = first_change(items, changed)?;
            let rest = items.iter().skip(first + 1).map(reprint_node);
            Value::Seq(items.iter().take(first).cloned().chain([item]).chain(rest).collect())
        }
        Value::Map(entries) => {
            let change = |entry: &Entry| changed(&entry.node).map(|node| entry.with_node(node));
            let (first, entry) = first_change(entries, change)?;
            let rest = entries.iter().skip(first + 1).map(|entry| entry.with_node(reprint_node(&entry.node)));
            Value::Map(entries.iter().take(first).cloned().chain([entry]).chain(rest).collect())
        }
    };
    Some(Node { value, origin: node.origin.clone() })
}

/// The first item that changes, and its index. Each item is processed once, at any depth.
fn first_change<T>(items: &[T], change: impl Fn(&T) -> Option<T>) -> Option<(usize, T)> {
    items.iter().enumerate().find_map(|(index, item)| change(item).map(|item| (index, item)))
}
