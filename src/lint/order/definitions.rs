//! The installation of the CRDs of custom resources.

use std::collections::BTreeSet;

use super::chart_uses::chart_of;
use crate::flux::groups_of_chart;
use crate::kube::groups;
use crate::lint::view::View;

/// Returns whether the objects of a cluster may install the CRDs of an API group. Kubernetes and Flux have their own
/// groups.
pub(crate) fn may_be_installed(view: &View<'_>, group: &str) -> bool {
    let is_own = !group.contains('.') || group.ends_with(".k8s.io") || groups::is_toolkit(group);
    is_own || view.installed_groups.get_or_init(|| installed_groups(view)).contains(group)
}

/// The API groups of the CRDs that a cluster receives, and of the known charts that it installs.
fn installed_groups<'a>(view: &View<'a>) -> BTreeSet<&'a str> {
    let definitions = view.of_kind("apiextensions.k8s.io", "CustomResourceDefinition");
    let defined = definitions.filter_map(|definition| definition.object.text_at(&["spec", "group"]));
    let releases = view.of_kind(groups::HELM, "HelmRelease");
    let charts = releases.filter_map(|release| chart_of(view, release.object));
    let mut all: BTreeSet<&'a str> = defined.collect();
    for chart in charts {
        all.extend(groups_of_chart(chart));
    }
    all
}
