use std::collections::{BTreeMap, BTreeSet};

use arcstr::ArcStr;

use crate::base::finding::Finding;
use crate::flux::Applied;
use crate::kube::{ObjectId, groups};
use crate::lint::facts::distinct::{WrittenPosition, written_position};
use crate::lint::findings::Findings;
use crate::lint::fleet::Fleet;
use crate::lint::refs::source_reference::{BUILT_FROM_SOURCES, MADE_OF_SOURCES, input_sources, source_of};
use crate::lint::rule::{Check, declare, pedantic};
use crate::lint::view::View;
use crate::yaml::Node;

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

/// The kinds of sources.
const SOURCES: [&str; 5] = ["Bucket", "GitRepository", "HelmChart", "HelmRepository", "OCIRepository"];

fn check(fleet: &Fleet<'_>, found: &mut Findings) {
    let of_views = fleet.of_views(unused);
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

/// The sources of a cluster.
fn sources<'a>(view: &View<'a>) -> impl Iterator<Item = Applied<'a>> {
    SOURCES.into_iter().flat_map(|kind| view.of_kind(groups::SOURCE, kind))
}

/// The sources of a cluster that no object references.
fn unused<'a>(view: &'a View<'a>, found: &mut Findings) -> Vec<Applied<'a>> {
    // The Flux of another cluster may use the sources of a remote cluster.
    if !view.is_whole() || view.receiver.target.is_some() {
        return Vec::new();
    }
    let users = BUILT_FROM_SOURCES.into_iter().chain(MADE_OF_SOURCES);
    let users = users.flat_map(|(group, kind)| view.of_kind(group, kind)).map(|user| user.object);
    let appliers = &view.receiver.cluster.appliers;
    let users = users.chain(appliers.iter().filter_map(|applier| applier.object.as_ref()));
    let mut used: BTreeSet<(&str, &str, &str)> = BTreeSet::new();
    for object in users {
        let all = source_of(object).into_iter().chain(input_sources(object)).map(|reference| reference.target);
        used.extend(all.map(|id| (id.kind, id.namespace, id.name)));
    }
    for source in appliers.iter().filter_map(|applier| applier.source.as_ref()) {
        used.insert((&source.kind, source.namespace.as_deref().unwrap_or_default(), &source.name));
    }
    let is_used = |id: ObjectId<'_>| used.contains(&(id.kind, id.namespace, id.name)) || id.name.contains("${");
    let mut unused: Vec<Applied<'a>> = sources(view).filter(|source| !is_used(ObjectId::of(source.object))).collect();
    if unused.is_empty() {
        return unused;
    }
    // Controllers outside of Flux read sources, too.
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for applied in view.objects().filter(|applied| may_read_sources(applied.object.group())) {
        applied.object.node.get("spec").into_iter().for_each(|spec| add_texts(spec, &mut names));
    }
    unused.retain(|source| {
        let id = ObjectId::of(source.object);
        let release = ObjectId { group: groups::HELM, kind: "HelmRelease", ..id };
        let applier = ObjectId { group: groups::KUSTOMIZE, kind: "Kustomization", ..id };
        let producers = || view.unknown_sources().of(release).chain(view.unknown_sources().of(applier));
        if let Some(producer) = producers().next() {
            found.unchecked(format!("uses of {id}, which {} may contain", producer.source));
            return false;
        }
        !names.contains(id.name)
    });
    unused
}

/// Returns whether the custom resources of a group may reference sources.
fn may_read_sources(group: &str) -> bool {
    group.contains('.') && !group.ends_with(".k8s.io") && !groups::is_toolkit(group)
}

/// Adds all scalars of a node.
fn add_texts<'a>(node: &'a Node, texts: &mut BTreeSet<&'a str>) {
    texts.extend(node.text());
    node.entries().iter().for_each(|entry| add_texts(&entry.node, texts));
    node.items().iter().for_each(|item| add_texts(item, texts));
}

fn finding(source: &Applied<'_>, clusters: Vec<ArcStr>) -> Finding {
    let object = source.object.reference();
    let message = format!("no object references {object}");
    let help = "remove the source, or correct the reference to it: Flux fetches it at each interval";
    let finding = pedantic(RULE.id, source.by.place(source.object.span()), message).help(help).about(object);
    Finding { clusters, ..finding.caused_by("", "no object references ", " sources") }
}
