//! Objects that install a webhook that adds variables to Kustomizations. The repository does not contain these
//! variables.

use crate::kube::{Object, groups};
use crate::yaml::Node;

/// The chart whose webhook adds the variables of a namespace to `spec.postBuild.substitute` of every Kustomization.
const CHART: &str = "kustomize-mutating-webhook";

/// Returns whether an object indicates that a webhook may change the Kustomizations of the cluster at admission.
///
/// Source: the README of `github.com/xunholy/kustomize-mutating-webhook`.
pub(in crate::flux) fn injects_variables(object: &Object) -> bool {
    let is_chart = |keys: &[&str]| object.text_at(keys).is_some_and(|name| name.rsplit('/').next() == Some(CHART));
    match (object.group(), object.kind()) {
        (groups::HELM, "HelmRelease") => {
            is_chart(&["spec", "chart", "spec", "chart"]) || is_chart(&["spec", "chartRef", "name"])
        }
        (groups::SOURCE, "OCIRepository") => is_chart(&["spec", "url"]),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration") => {
            let webhooks = object.node.get("webhooks").map_or(&[][..], Node::items);
            let mut rules = webhooks.iter().filter_map(|webhook| webhook.get("rules")).flat_map(Node::items);
            rules.any(is_for_kustomizations)
        }
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy") => {
            let rules = object.node.at_keys(&["spec", "matchConstraints", "resourceRules"]);
            rules.is_some_and(|rules| rules.items().iter().any(is_for_kustomizations))
        }
        _ => false,
    }
}

/// Returns whether a rule of a webhook lists the Kustomizations of Flux. A rule for all kinds usually has another
/// purpose.
fn is_for_kustomizations(rule: &Node) -> bool {
    let has = |field: &str, value: &str| {
        rule.get(field).is_some_and(|list| list.items().iter().any(|item| item.text() == Some(value)))
    };
    has("apiGroups", groups::KUSTOMIZE) && has("resources", "kustomizations")
}
