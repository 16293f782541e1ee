//! Label selectors of Kubernetes.

use crate::kube::Object;
use crate::yaml::Node;

/// Whether a selector matches the labels of an object; an empty or missing selector matches all objects.
pub(crate) fn fits(selector: Option<&Node>, object: &Object) -> bool {
    fits_labels(selector, |key| object.label(key))
}

/// Whether a selector matches labels.
pub(crate) fn fits_labels<'a>(selector: Option<&Node>, label: impl Fn(&str) -> Option<&'a str>) -> bool {
    let Some(selector) = selector else { return true };
    let labels = selector.get("matchLabels").map_or(&[][..], Node::entries);
    let expressions = selector.get("matchExpressions").map_or(&[][..], Node::items);
    labels.iter().all(|entry| entry.node.text().is_some() && label(&entry.key) == entry.node.text())
        && expressions.iter().all(|expression| {
            let found = expression.get("key").and_then(Node::text).and_then(&label);
            let values = expression.get("values").map_or(&[][..], Node::items);
            let among = || values.iter().any(|value| value.text() == found);
            match expression.get("operator").and_then(Node::text) {
                Some("In") => found.is_some() && among(),
                Some("NotIn") => found.is_none() || !among(),
                Some("Exists") => found.is_some(),
                Some("DoesNotExist") => found.is_none(),
                _ => false,
            }
        })
}
