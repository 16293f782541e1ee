//! Releases whose charts install the CRDs of objects that clusters receive without the CRD.

use std::collections::{BTreeMap, BTreeSet};

use crate::flux::groups_of_chart;
use crate::kube::{Object, groups};
use crate::lint::fleet::Fleet;
use crate::lint::order::definitions::may_be_installed;

/// The custom resources whose CRDs no object of their cluster installs, by API group.
pub(super) struct Undefined<'a>(BTreeMap<&'a str, Uses<'a>>);

/// The custom resources of an API group.
pub(super) struct Uses<'a> {
    /// The first custom resource.
    pub(super) object: &'a Object,
    clusters: BTreeSet<String>,
}

impl<'a> Undefined<'a> {
    pub(super) fn on(fleet: &Fleet<'a>) -> Self {
        let mut found: BTreeMap<&'a str, Uses<'a>> = BTreeMap::new();
        for view in fleet.views.iter().filter(|view| view.receiver.target.is_none()) {
            let mut known: BTreeMap<&str, bool> = BTreeMap::new();
            for (brought, listing) in &view.lists {
                for (_, at) in &listing.needs(&brought.objects).custom_kinds {
                    let Some(object) = brought.objects.get(*at) else { continue };
                    let group = object.group();
                    let is_installed = known
                        .entry(group)
                        .or_insert_with(|| may_be_installed(view, group) || view.before_flux.programs.defines(group));
                    if !*is_installed {
                        let uses = found.entry(group).or_insert_with(|| Uses { object, clusters: BTreeSet::new() });
                        uses.clusters.insert(view.receiver.to_string());
                    }
                }
            }
        }
        Self(found)
    }

    /// The custom resources whose CRDs the chart of one of several releases installs, with the name of the chart.
    pub(super) fn of_charts<'o>(&self, objects: &[&'o Object]) -> Option<(&'o str, &Uses<'a>)> {
        charts_of(objects).find_map(|chart| {
            let mut uses = groups_of_chart(chart).iter().filter_map(|group| self.0.get(group));
            uses.next().map(|uses| (chart, uses))
        })
    }
}

/// The charts of releases.
pub(super) fn charts_of<'o>(objects: &[&'o Object]) -> impl Iterator<Item = &'o str> {
    let releases = objects.iter().filter(|object| object.is(groups::HELM, "HelmRelease"));
    releases.filter_map(|release| release.text_at(&["spec", "chart", "spec", "chart"]))
}

impl Uses<'_> {
    /// The clusters in words, such as `cluster `a` receives`.
    pub(super) fn receivers(&self) -> String {
        match self.clusters.first() {
            Some(only) if self.clusters.len() == 1 => format!("cluster `{only}` receives"),
            _ => format!("{} clusters receive", self.clusters.len()),
        }
    }
}
