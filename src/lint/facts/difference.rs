//! The difference between two definitions of one object.

use crate::cel::Duration;
use crate::kube::Object;
use crate::kube::is_encrypted_value;
use crate::yaml::{ChangedBy, Node, Origin, Reader, Value};

/// A field that two definitions of an object set differently.
#[derive(Debug, Clone)]
pub(crate) struct Difference<'a> {
    /// The field, such as `spec.replicas`.
    pub(crate) field: String,
    /// The value of the second definition, or of the first definition if only the first one has the field.
    pub(crate) node: &'a Node,
    /// The definition that has the field, if the other definition lacks it.
    pub(crate) only_in: Option<Definition>,
    /// Whether a controller may read the field.
    pub(crate) has_effect: bool,
}

/// One of two definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Definition {
    First,
    Second,
}

/// The label that permits pods with more permissions than the default of the cluster.
const ENFORCED: [&str; 3] = ["metadata", "labels", "pod-security.kubernetes.io/enforce"];

/// The prefixes of labels and annotations that only describe an object or only affect its appliers.
const DESCRIPTIVE: [&str; 6] = [
    "app.kubernetes.io/",
    "helm.sh/chart",
    // The API server sets this label to the name of the Namespace.
    "kubernetes.io/metadata.name",
    "kustomize.toolkit.fluxcd.io/",
    "pod-security.kubernetes.io/audit",
    "pod-security.kubernetes.io/warn",
];

/// The names of labels and annotations of charts and manifests that only describe an object.
const DESCRIPTIONS: [&str; 3] = ["chart", "heritage", "version"];

/// The most important difference between two definitions of an object: if possible, a difference with an effect.
///
/// Both definitions have the same identity. The comparison ignores the API version, null values and encrypted values.
pub(crate) fn difference<'a>(first: &'a Object, second: &'a Object) -> Option<Difference<'a>> {
    let mut found = Vec::new();
    if first.is("", "Namespace") {
        // For the pods of the namespace, this label is more important than other labels.
        let at = |object: &'a Object| object.node.at_keys(&ENFORCED);
        collect(at(first), at(second), &mut ENFORCED.to_vec(), &mut found);
    }
    collect(Some(&first.node), Some(&second.node), &mut Vec::new(), &mut found);
    let at = found.iter().position(|difference: &Difference<'_>| difference.has_effect).unwrap_or_default();
    found.into_iter().nth(at)
}

/// Collects the differences between two nodes at a path, up to the first difference with an effect.
fn collect<'a>(
    first: Option<&'a Node>,
    second: Option<&'a Node>,
    path: &mut Vec<&'a str>,
    found: &mut Vec<Difference<'a>>,
) {
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
        let entries = |node: Option<&'a Node>| node.map_or(&[][..], Node::entries);
        let lacks = |key: &str| first.is_none_or(|first| first.get(key).is_none());
        let keys = entries(first).iter().chain(entries(second).iter().filter(|entry| lacks(&entry.key)));
        for entry in keys {
            path.push(&entry.key);
            let second_value = second.and_then(|second| second.get(&entry.key));
            collect(first.and_then(|first| first.get(&entry.key)), second_value, path, found);
            path.pop();
        }
        return;
    }
    let (node, only_in) = match (first, second) {
        _ if is_equal(first, second) || is_equal_duration(path, first, second) => return,
        (None, Some(second)) => (second, Some(Definition::Second)),
        (Some(_), Some(second)) => (second, None),
        (Some(first), None) => (first, Some(Definition::First)),
        (None, None) => return,
    };
    let is_of_applier = [first, second].into_iter().flatten().any(|node| match &node.origin {
        Origin::Via(step) => matches!(step.by, ChangedBy::Applier(_)),
        Origin::At(_) => false,
    });
    let has_effect = match path[..] {
        ["metadata", "labels" | "annotations", key] => {
            let is_descriptive = DESCRIPTIVE.iter().any(|prefix| key.starts_with(prefix));
            !is_of_applier && !is_descriptive && !DESCRIPTIONS.contains(&key)
        }
        _ => true,
    };
    found.push(Difference { field: path.join("."), node, only_in, has_effect });
}

/// Returns whether a field contains the same duration in two notations, such as `1h` and `1h0m0s`.
fn is_equal_duration(path: &[&str], first: Option<&Node>, second: Option<&Node>) -> bool {
    let duration = |node: Option<&Node>| Duration::parse(node?.text()?).map(|duration| duration.0);
    let is_duration = matches!(path, ["spec", .., "interval" | "retryInterval" | "timeout"]);
    is_duration && duration(first).is_some_and(|first| Some(first) == duration(second))
}

/// Returns whether the API server reads the same value from two nodes that are not both maps.
///
/// An encrypted value is equal to any scalar, since its plain text is unknown.
fn is_equal(first: Option<&Node>, second: Option<&Node>) -> bool {
    let (Some(first), Some(second)) = (first, second) else { return first.is_none() && second.is_none() };
    match (&first.value, &second.value) {
        (Value::Scalar(one, _), Value::Scalar(other, _)) => {
            first.resolve(Reader::Kustomize) == second.resolve(Reader::Kustomize)
                || [one, other].iter().any(|text| is_encrypted_value(text))
        }
        (Value::Seq(ones), Value::Seq(others)) => {
            // The path of an item differs from the path of an object, so that no field of the item is ignored.
            ones.len() == others.len()
                && ones.iter().zip(others.iter()).all(|(one, other)| {
                    let mut found = Vec::new();
                    collect(Some(one), Some(other), &mut vec!["items"], &mut found);
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
        let (first, second) = (object(first), object(second));
        difference(&first, &second).map(|difference| difference.field)
    }

    #[test]
    fn each_field_of_an_item_counts() {
        let one = "spec: {healthChecks: [{apiVersion: v1, metadata: {namespace: a}}]}";
        assert_eq!(field(one, one), None);
        assert_eq!(field(one, &one.replace("v1", "v2")).as_deref(), Some("spec.healthChecks"));
        assert_eq!(field(one, &one.replace("namespace: a", "namespace: b")).as_deref(), Some("spec.healthChecks"));
    }

    #[test]
    fn a_duration_has_several_notations() {
        assert_eq!(field("spec: {interval: 1h}", "spec: {interval: 1h0m0s}"), None);
        assert_eq!(field("spec: {interval: 1h}", "spec: {interval: 1m}").as_deref(), Some("spec.interval"));
        assert_eq!(field("spec: {values: 1h}", "spec: {values: 60m}").as_deref(), Some("spec.values"));
    }

    #[test]
    fn an_empty_map_counts_except_in_metadata() {
        assert_eq!(field("metadata: {labels: {}}", "metadata: {}"), None);
        assert_eq!(field("spec: {from: [{a: {}}]}", "spec: {from: [{}]}").as_deref(), Some("spec.from"));
        assert_eq!(field("spec: {podSelector: {}}", "spec: {}").as_deref(), Some("spec.podSelector"));
    }
}
