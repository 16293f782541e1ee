//! The installation of the CRDs of custom resources.

use super::chart_uses::chart_of;
use crate::flux::groups_of_chart;
use crate::kube::groups;
use crate::lint::view::View;

/// Returns whether the objects of a cluster may install the CRDs of an API group. Kubernetes and Flux have their own
/// groups.
pub(crate) fn may_be_installed(view: &View<'_>, group: &str) -> bool {
    let is_own = !group.contains('.') || group.ends_with(".k8s.io") || groups::is_toolkit(group);
    let is_defined = || {
        let mut definitions = view.of_kind("apiextensions.k8s.io", "CustomResourceDefinition");
        definitions.any(|definition| definition.object.text_at(&["spec", "group"]) == Some(group))
    };
    let is_of_chart = || {
        let mut releases = view.of_kind(groups::HELM, "HelmRelease");
        releases
            .any(|release| chart_of(view, release.object).is_some_and(|chart| groups_of_chart(chart).contains(&group)))
    };
    is_own || is_defined() || is_of_chart()
}
