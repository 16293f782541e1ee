//! Custom resources whose CRDs the chart of a release or the package of a Crossplane provider installs.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::flux::{Applied, AppliedSet, Applier, ApplyMode, groups_of_chart};
use crate::kube::{Object, groups};
use crate::lint::facts::unknown_sources::Producer;
use crate::lint::refs::source_reference::source_of;
use crate::lint::view::View;
use crate::text::Index;

/// The fields of chart values that disable the CRDs of a chart.
const SWITCHES: [&[&str]; 4] = [&["installCRDs"], &["crds", "enabled"], &["crds", "install"], &["crds", "create"]];

/// The charts of container networks that contain CRDs.
const NETWORKS: [&str; 2] = ["cilium", "tigera-operator"];

/// The maximum number of releases whose charts install the CRDs of one group. If there are more releases, the order of
/// one of them hardly matters.
const MAX_CHARTS: usize = 50;

/// A custom resource, with the releases and Crossplane providers that install its CRD.
pub(crate) struct ChartUse<'a> {
    /// The first object of its kind in its applier.
    pub(crate) user: Applied<'a>,
    /// The releases and providers. One of them is sufficient.
    pub(crate) charts: Vec<Applied<'a>>,
}

/// The custom resources of a cluster whose CRDs only charts and providers install, one of each kind for each applier.
pub(crate) fn uses_of_charts<'a>(view: &View<'a>) -> Vec<ChartUse<'a>> {
    let mut charts: BTreeMap<String, Vec<Applied<'a>>> = BTreeMap::new();
    for release in view.of_kind(groups::HELM, "HelmRelease").filter(|release| installs_definitions(release.object)) {
        let chart = chart_of(view, release.object).unwrap_or_default();
        // Flux starts only after the pod network works.
        if !NETWORKS.contains(&chart) {
            for group in groups_of_chart(chart) {
                charts.entry((*group).to_owned()).or_default().push(release);
            }
        }
    }
    for provider in view.of_kind(CROSSPLANE, "Provider") {
        for group in groups_of_provider(provider.object) {
            charts.entry(group).or_default().push(provider);
        }
    }
    charts.retain(|_, releases| releases.len() <= MAX_CHARTS);
    if charts.is_empty() {
        return Vec::new();
    }
    let mut defined: Index<u64, ()> = Index::default();
    for (brought, listing) in &view.lists {
        for kind in &listing.needs(&brought.objects).defined_kinds {
            defined.insert(*kind, ());
        }
    }
    let mut found = Vec::new();
    for (brought, listing) in view.by_flux().filter(|(brought, _)| !brought.by.is_suspended()) {
        for (kind, at) in &listing.needs(&brought.objects).custom_kinds {
            let brought: &'a AppliedSet = brought;
            let Some(user) = brought.at(*at).filter(|user| user.apply_mode() != ApplyMode::Ignored) else { continue };
            let (group, object_kind) = (user.object.group(), user.object.kind());
            let Some(charts) = charts.get(group).filter(|_| !defined.contains(kind)) else { continue };
            // The applier of the custom resource applies a base itself, but an unbuilt child comes after its objects.
            let is_below = |producer: &Producer<'_>| {
                let own = |by: &&Arc<Applier>| producer.is_base() && by.at == user.by.at;
                let mut above = producer.by.filter(|by| !own(by)).into_iter().flat_map(lineage);
                above.any(|above| above.at == user.by.at)
            };
            let mut producers = view.unknown_sources().with_definition(group, object_kind);
            if producers.any(|producer| !is_below(producer)) {
                continue;
            }
            // A program that bootstraps the cluster usually installs CRDs before Flux starts.
            let programs = view.before_flux.programs;
            let is_installed = |chart: &Applied<'a>| {
                let is_release = chart.object.is(groups::HELM, "HelmRelease");
                is_release && programs.installs(chart_of(view, chart.object).unwrap_or_default(), chart.object.name())
            };
            if !programs.defines(group) && !charts.iter().any(is_installed) {
                found.push(ChartUse { user, charts: charts.clone() });
            }
        }
    }
    found
}

/// The API group of the packages of Crossplane.
const CROSSPLANE: &str = "pkg.crossplane.io";

/// The API groups whose CRDs the package of a Crossplane provider contains, according to the name of the package:
/// `provider-gcp`, or `provider-aws-s3` of the family `aws`.
///
/// Source: the packages of Upbound and Crossplane, whose groups consist of the service, the family and the owner.
fn groups_of_provider(provider: &Object) -> Vec<String> {
    let package = provider.text_at(&["spec", "package"]).unwrap_or_default();
    let name = package.rsplit('/').next().unwrap_or_default().split([':', '@']).next().unwrap_or_default();
    let Some(name) = name.strip_prefix("provider-") else { return Vec::new() };
    let name = name.strip_prefix("family-").unwrap_or(name);
    let with_owner =
        |name: &str| ["upbound.io", "m.upbound.io", "crossplane.io"].map(|owner| format!("{name}.{owner}"));
    let mut found = with_owner(name).to_vec();
    if let Some((family, service)) = name.split_once('-') {
        found.extend(with_owner(&format!("{service}.{family}")));
        found.extend(with_owner(family));
    }
    found
}

/// An applier and the appliers above it.
fn lineage(applier: &Arc<Applier>) -> impl Iterator<Item = &Arc<Applier>> {
    std::iter::successors(Some(applier), |applier| applier.parent_applier.as_ref())
}

/// The name of the chart of a release.
pub(crate) fn chart_of<'a>(view: &View<'a>, release: &'a Object) -> Option<&'a str> {
    let last = |name: &'a str| name.rsplit('/').next().unwrap_or(name);
    if let Some(chart) = release.text_at(&["spec", "chart", "spec", "chart"]) {
        return Some(last(chart));
    }
    let target = source_of(release)?.target;
    let source = view.get(target).and_then(|source| {
        let fields: [&[&str]; 2] = [&["spec", "url"], &["spec", "chart"]];
        fields.into_iter().find_map(|field| source.object.text_at(field))
    });
    Some(last(source.unwrap_or(target.name)))
}

/// Returns whether a release installs the CRDs of its chart on the cluster that runs Flux.
fn installs_definitions(release: &Object) -> bool {
    let is_set_to = |keys: &[&str], value: &str| release.text_at(keys) == Some(value);
    let is_off = |switch: &&[&str]| is_set_to(&[&["spec", "values"], *switch].concat(), "false");
    release.node.at_keys(&["spec", "kubeConfig"]).is_none()
        && !is_set_to(&["spec", "install", "crds"], "Skip")
        && !SWITCHES.iter().any(is_off)
}
