//! The namespaces that Helm charts apply objects to.

use crate::kube::Object;
use crate::kube::groups;

/// The charts of Flux itself, which bring nothing but its installation.
const OF_FLUX: [&str; 3] = ["flux-operator", "flux-instance", "flux2"];

/// The namespace that a chart brings objects to on the cluster that its release is on.
pub(crate) fn chart_into(object: &Object) -> Option<&str> {
    if !object.is(groups::HELM, "HelmRelease") || object.node.at_keys(&["spec", "kubeConfig"]).is_some() {
        return None;
    }
    let said = |keys: &[&str]| object.text_at(keys).filter(|text| !text.is_empty());
    let chart = said(&["spec", "chart", "spec", "chart"]).or_else(|| said(&["spec", "chartRef", "name"]));
    if chart.is_some_and(|chart| OF_FLUX.contains(&chart)) {
        return None;
    }
    said(&["spec", "targetNamespace"]).or(object.namespace())
}
