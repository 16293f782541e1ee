//! The changes to strings when kustomize prints its output and parses the output again.

use crate::yaml::{Entry, List, Node, Style, Value, go, plain_time};

/// The object after kustomize's output is parsed: the line breaks of folded blocks differ.
///
/// Subtrees without a changed string are shared.
pub(crate) fn reprint_node(node: &Node) -> Node {
    changed(node).unwrap_or_else(|| node.clone())
}

/// The object after its conversion to JSON: plain dates and times are strings.
pub(crate) fn with_times(node: &Node) -> Node {
    timed(node, false).unwrap_or_else(|| node.clone())
}

/// The node with its times as strings; `None` if it has no times.
fn timed(node: &Node, in_brackets: bool) -> Option<Node> {
    let in_brackets = in_brackets || node.has_brackets();
    let value = match &node.value {
        Value::Scalar(text, Style::Plain) => Value::Scalar(plain_time(text, in_brackets)?.into(), Style::Double),
        Value::Scalar(..) => return None,
        Value::Seq(items) => Value::Seq(with_changes(items, |item| timed(item, in_brackets))?),
        Value::Map(entries) => Value::Map(with_changes(entries, |entry| {
            timed(&entry.node, in_brackets).map(|node| entry.with_node(node))
        })?),
    };
    Some(Node { value, origin: node.origin.clone() })
}

/// The items with their changes; `None` if none changes.
fn with_changes<T: Clone>(items: &[T], change: impl Fn(&T) -> Option<T>) -> Option<List<T>> {
    let (first, item) = first_change(items, &change)?;
    let rest = items.iter().skip(first + 1).map(|item| change(item).unwrap_or_else(|| item.clone()));
    Some(items.iter().take(first).cloned().chain([item]).chain(rest).collect())
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
