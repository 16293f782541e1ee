//! The sources that no object of a cluster references.

use std::collections::BTreeSet;

use crate::flux::Applied;
use crate::kube::{ObjectId, groups};
use crate::lint::findings::Findings;
use crate::lint::refs::source_reference::{BUILT_FROM_SOURCES, MADE_OF_SOURCES, input_sources, source_of};
use crate::lint::view::View;
use crate::yaml::Node;

/// The kinds of sources.
const SOURCES: [&str; 5] = ["Bucket", "GitRepository", "HelmChart", "HelmRepository", "OCIRepository"];

/// The sources of a cluster.
pub(crate) fn sources<'a>(view: &View<'a>) -> impl Iterator<Item = Applied<'a>> {
    SOURCES.into_iter().flat_map(|kind| view.of_kind(groups::SOURCE, kind))
}

/// The sources of a cluster that no object references or may reference.
pub(crate) fn unused_sources<'a>(view: &View<'a>, found: &mut Findings) -> Vec<Applied<'a>> {
    let mut unused = unreferenced_sources(view);
    unused.retain(|source| {
        let id = ObjectId::of(source.object);
        let release = ObjectId { group: groups::HELM, kind: "HelmRelease", ..id };
        let applier = ObjectId { group: groups::KUSTOMIZE, kind: "Kustomization", ..id };
        let mut producers = view.unknown_sources().of(release).chain(view.unknown_sources().of(applier));
        let producer = producers.next();
        if let Some(producer) = producer {
            found.unchecked(format!("uses of {id}, which {} may contain", producer.source));
        }
        producer.is_none()
    });
    unused
}

/// The sources of a cluster that no object references.
pub(crate) fn unreferenced_sources<'a>(view: &View<'a>) -> Vec<Applied<'a>> {
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
    unused.retain(|source| !names.contains(source.object.name()));
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
