//! Objects with the same content at different positions, such as the copies of a file for each cluster.

use std::hash::Hasher as _;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::kube::Object;
use crate::text::Index;
use crate::yaml::{Node, Value};

/// The position of the first object of each group that has the same content as an object.
///
/// A few objects may have themselves as the result although an earlier object has the same content.
pub(crate) fn first_alike(objects: &[(usize, &Object)]) -> Vec<usize> {
    let hash = |(group, object): &(usize, &Object)| {
        let mut hasher = rustc_hash::FxHasher::default();
        hasher.write_usize(*group);
        hash_node(&object.node, &mut hasher);
        hasher.finish()
    };
    let hashes: Vec<u64> = objects.par_iter().map(hash).collect();
    let mut known: Index<u64, usize> = Index::default();
    let with_hash: Vec<usize> = hashes.iter().enumerate().map(|(at, hash)| *known.entry_or(*hash, || at)).collect();
    let first = |(at, first): (usize, &usize)| {
        // Different contents may have the same hash.
        let is_alike = match (objects.get(at), objects.get(*first)) {
            (Some((group, object)), Some((of, other))) => of == group && alike(&object.node, &other.node),
            _ => false,
        };
        if is_alike { *first } else { at }
    };
    with_hash.par_iter().enumerate().map(first).collect()
}

fn hash_node(node: &Node, hasher: &mut rustc_hash::FxHasher) {
    match &node.value {
        Value::Scalar(text, style) => {
            hasher.write_u8(*style as u8);
            hasher.write(text.as_bytes());
        }
        Value::Seq(items) => {
            hasher.write_usize(items.len());
            items.iter().for_each(|item| hash_node(item, hasher));
        }
        Value::Map(entries) => {
            hasher.write_usize(entries.len());
            for entry in entries.iter() {
                hasher.write(entry.key.as_bytes());
                hash_node(&entry.node, hasher);
            }
        }
    }
}

/// Returns whether two objects have the same values in the same styles and in the same order.
pub(crate) fn is_alike(one: &Object, other: &Object) -> bool {
    alike(&one.node, &other.node)
}

/// Returns whether two nodes have the same values in the same styles and in the same order.
fn alike(one: &Node, other: &Node) -> bool {
    match (&one.value, &other.value) {
        (Value::Scalar(one, style), Value::Scalar(other, other_style)) => style == other_style && one == other,
        (Value::Seq(one), Value::Seq(other)) => {
            one.is_same(other)
                || one.len() == other.len() && one.iter().zip(other.iter()).all(|(one, other)| alike(one, other))
        }
        (Value::Map(one), Value::Map(other)) => {
            one.is_same(other)
                || one.len() == other.len()
                    && one
                        .iter()
                        .zip(other.iter())
                        .all(|(one, other)| one.key == other.key && alike(&one.node, &other.node))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::File;
    use crate::yaml::parse;

    #[test]
    fn the_style_and_the_order_are_part_of_the_content() {
        let objects = |text: &str| -> Vec<Object> {
            let parsed = parse(&File::new("a.yaml", text));
            parsed.documents.into_iter().map(|document| Object { node: document.node }).collect()
        };
        let all = objects("a: 1\nb: x\n---\na: 1\nb: x\n---\na: '1'\nb: x\n---\nb: x\na: 1\n---\na: 1\nb: x\n");
        let grouped: Vec<(usize, &Object)> = all.iter().enumerate().map(|(at, object)| (at / 4, object)).collect();
        assert_eq!(first_alike(&grouped), [0, 0, 2, 3, 4]);
    }
}
