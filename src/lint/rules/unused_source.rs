use std::collections::{BTreeMap, BTreeSet};

use arcstr::ArcStr;

use crate::base::finding::Finding;
use crate::flux::Applied;
use crate::kube::ObjectId;
use crate::lint::facts::distinct::{WrittenPosition, written_position};
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::presence::unused_sources::{sources, unused_sources};
use crate::lint::rule::{Check, declare, pedantic};

declare! {
    /// No object references a source.
    ///
    /// ## Why
    ///
    /// Flux fetches a source at each interval, also if no object uses it. The source is left over from a removed
    /// application, or the reference to it has another name or namespace. An unused source has no effect, so the severity
    /// is pedantic.
    ///
    /// The rule considers all objects that Flux builds from sources, generators, and all custom resources with the name of
    /// the source. It does not report a source that an object uses on another cluster, or that an object of an unbuilt
    /// input may use.
    ///
    /// ## How to fix it
    ///
    /// Remove the source, or correct the reference.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: HelmRepository
    /// metadata:
    ///   name: podinfo
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   url: https://stefanprodan.github.io/podinfo
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: HelmRepository
    /// metadata:
    ///   name: podinfo
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   url: https://stefanprodan.github.io/podinfo
    /// ---
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: podinfo
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   chart:
    ///     spec:
    ///       chart: podinfo
    ///       sourceRef:
    ///         kind: HelmRepository
    ///         name: podinfo
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: sources](https://fluxcd.io/flux/components/source/)
    "unused-source", Pedantic, "no object references a source", Check::Fleet(check),
}

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    let of_views = fleet.of_views(unused_sources);
    let mut left: BTreeMap<WrittenPosition<'_>, (Applied<'_>, Vec<ArcStr>)> = BTreeMap::new();
    for ((sources, undecided), view) in of_views.iter().zip(fleet.views) {
        found.merge(undecided.clone());
        for source in sources {
            let (_, clusters) = left.entry(written_position(source.object)).or_insert_with(|| (*source, Vec::new()));
            clusters.push(view.receiver.to_string().into());
        }
    }
    if left.is_empty() {
        return;
    }
    // Another cluster may use the source, or it is unknown whether it does.
    for ((unused, _), view) in of_views.iter().zip(fleet.views) {
        let unused: BTreeSet<ObjectId<'_>> = unused.iter().map(|source| ObjectId::of(source.object)).collect();
        for source in sources(view).filter(|source| !unused.contains(&ObjectId::of(source.object))) {
            left.remove(&written_position(source.object));
        }
    }
    found.extend(left.into_values().map(|(source, clusters)| finding(&source, clusters)));
}

fn finding(source: &Applied<'_>, clusters: Vec<ArcStr>) -> Finding {
    let object = source.object.reference();
    let message = format!("no object references {object}");
    let help = "remove the source, or correct the reference to it: Flux fetches it at each interval";
    let finding = pedantic(RULE.id, source.by.place(source.object.span()), message).help(help).about(object);
    Finding { clusters, ..finding.caused_by("", "no object references ", " sources") }
}
