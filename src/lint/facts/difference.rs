//! The difference between two definitions of one object.

use crate::kube::Object;
use crate::yaml::{ChangedBy, Node, Origin, Reader, Value};

/// A field that two definitions of an object set differently.
#[derive(Debug, Clone)]
pub(crate) struct Difference<'a> {
    /// The field, such as `spec.replicas`.
    pub(crate) field: String,
    /// The value of the second definition, or the map that lacks the field.
    pub(crate) node: &'a Node,
    /// Whether a controller may read the field.
    pub(crate) has_effect: bool,
}

/// The prefixes of labels and annotations that only describe an object or only affect its appliers.
const DESCRIPTIVE: [&str; 5] = [
    "app.kubernetes.io/",
    "helm.sh/chart",
    "kustomize.toolkit.fluxcd.io/",
    "pod-security.kubernetes.io/audit",
    "pod-security.kubernetes.io/warn",
];

/// The most important difference between two definitions of an object: if possible, a difference with an effect.
///
/// Both definitions have the same identity. The comparison ignores the API version, null values and encrypted values.
pub(crate) fn difference<'a>(first: &Object, second: &'a Object) -> Option<Difference<'a>> {
    let mut found = Vec::new();
    collect(Some(&first.node), Some(&second.node), &second.node, &mut Vec::new(), &mut found);
    let at = found.iter().position(|difference: &Difference<'_>| difference.has_effect).unwrap_or_default();
    found.into_iter().nth(at)
}

/// Collects the differences between two nodes at a path, up to the first difference with an effect.
fn collect<'a, 'n>(
    first: Option<&'n Node>,
    second: Option<&'a Node>,
    within: &'a Node,
    path: &mut Vec<&'n str>,
    found: &mut Vec<Difference<'a>>,
) where
    'a: 'n,
{
    let is_set = |node: &&Node| !node.is_null();
    let (first, second) = (first.filter(is_set), second.filter(is_set));
    if matches!(path[..], ["apiVersion" | "status" | "sops"] | ["metadata", "namespace"])
        || found.last().is_some_and(|last| last.has_effect)
    {
        return;
    }
    // Empty labels or annotations are equal to missing labels or annotations. Elsewhere, an empty map has an effect, such
    // as `podSelector: {}` or `emptyDir: {}`.
    let is_empty = |node: Option<&Node>| node.is_none_or(|node| node.entries().is_empty());
    let is_alone = first.is_some() != second.is_some() && is_empty(first) && is_empty(second);
    let has_meaning = is_alone && !matches!(path[..], [] | ["metadata", ..]);
    let is_map = |node: Option<&Node>| node.is_none_or(Node::is_map);
    if (first.is_some() || second.is_some()) && is_map(first) && is_map(second) && !has_meaning {
        let entries = |node: Option<&'n Node>| node.map_or(&[][..], Node::entries);
        let lacks = |key: &str| first.is_none_or(|first| first.get(key).is_none());
        let keys = entries(first).iter().chain(entries(second).iter().filter(|entry| lacks(&entry.key)));
        for entry in keys {
            path.push(&entry.key);
            let second_value = second.and_then(|second| second.get(&entry.key));
            let inside = second.unwrap_or(within);
            collect(first.and_then(|first| first.get(&entry.key)), second_value, inside, path, found);
            path.pop();
        }
        return;
    }
    if is_equal(first, second) {
        return;
    }
    let is_of_applier = [first, second].into_iter().flatten().any(|node| match &node.origin {
        Origin::Via(step) => matches!(step.by, ChangedBy::Applier(_)),
        Origin::At(_) => false,
    });
    let has_effect = match path[..] {
        ["metadata", "labels" | "annotations", key] => {
            !is_of_applier && !DESCRIPTIVE.iter().any(|prefix| key.starts_with(prefix))
        }
        _ => true,
    };
    found.push(Difference { field: path.join("."), node: second.unwrap_or(within), has_effect });
}

/// Returns whether the API server reads the same value from two nodes that are not both maps.
///
/// An encrypted value is equal to any scalar, since its plain text is unknown.
fn is_equal(first: Option<&Node>, second: Option<&Node>) -> bool {
    let (Some(first), Some(second)) = (first, second) else { return first.is_none() && second.is_none() };
    match (&first.value, &second.value) {
        (Value::Scalar(one, _), Value::Scalar(other, _)) => {
            first.resolve(Reader::Kustomize) == second.resolve(Reader::Kustomize)
                || [one, other].iter().any(|text| text.starts_with("ENC["))
        }
        (Value::Seq(ones), Value::Seq(others)) => {
            // The path of an item differs from the path of an object, so that no field of the item is ignored.
            ones.len() == others.len()
                && ones.iter().zip(others.iter()).all(|(one, other)| {
                    let mut found = Vec::new();
                    collect(Some(one), Some(other), other, &mut vec!["items"], &mut found);
                    found.is_empty()
                })
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::File;
    use crate::yaml::parse;

    fn field(first: &str, second: &str) -> Option<String> {
        let object = |text: &str| {
            let parsed = parse(&File::new("a.yaml", format!("apiVersion: v1\nkind: X\n{text}")));
            Object::new(parsed.documents[0].node.clone()).unwrap()
        };
        difference(&object(first), &object(second)).map(|difference| difference.field)
    }

    #[test]
    fn each_field_of_an_item_counts() {
        let one = "spec: {healthChecks: [{apiVersion: v1, metadata: {namespace: a}}]}";
        assert_eq!(field(one, one), None);
        assert_eq!(field(one, &one.replace("v1", "v2")).as_deref(), Some("spec.healthChecks"));
        assert_eq!(field(one, &one.replace("namespace: a", "namespace: b")).as_deref(), Some("spec.healthChecks"));
    }

    #[test]
    fn an_empty_map_counts_except_in_metadata() {
        assert_eq!(field("metadata: {labels: {}}", "metadata: {}"), None);
        assert_eq!(field("spec: {from: [{a: {}}]}", "spec: {from: [{}]}").as_deref(), Some("spec.from"));
        assert_eq!(field("spec: {podSelector: {}}", "spec: {}").as_deref(), Some("spec.podSelector"));
    }
}
