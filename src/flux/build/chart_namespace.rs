//! The namespaces in which Helm charts create objects.

use crate::flux::unknown::known_contents::installs_flux;
use crate::kube::{Object, groups};

/// The namespace in which the chart of a HelmRelease creates objects; `None` if the release targets another cluster or
/// the chart installs Flux.
pub(crate) fn chart_namespace(object: &Object) -> Option<&str> {
    if !object.is(groups::HELM, "HelmRelease") || object.node.at_keys(&["spec", "kubeConfig"]).is_some() {
        return None;
    }
    let text_at = |keys: &[&str]| object.text_at(keys).filter(|text| !text.is_empty());
    let chart = text_at(&["spec", "chart", "spec", "chart"]).or_else(|| text_at(&["spec", "chartRef", "name"]));
    if chart.is_some_and(installs_flux) {
        return None;
    }
    text_at(&["spec", "targetNamespace"]).or(object.namespace())
}
