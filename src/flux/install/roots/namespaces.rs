//! The namespaces of FluxInstances and root Kustomizations that no file states.
//!
//! The program that applies the object sets its namespace, such as a Kustomization with `targetNamespace`. The source of
//! the sync is in the same namespace, and the Kustomizations of the synced directory use this source.

use super::candidate::RootCandidate;
use super::coverage::{Coverage, source_of};
use super::repository::most_common;
use crate::flux::object::kinds::is_flux;
use crate::flux::object::synthetic_node::{map, text};
use crate::kube::{Object, groups};
use crate::text::{Tree, is_inside};

/// Sets the namespaces of FluxInstances without a namespace.
pub(super) fn set_namespaces(tree: &Tree, coverage: &Coverage<'_>, candidates: &mut [RootCandidate]) {
    for candidate in candidates.iter_mut().filter(|one| one.is_of_operator()) {
        let synced = candidate.synced(tree);
        let Some(instance) = candidate.objects.last_mut().filter(|object| object.namespace().is_none()) else {
            continue;
        };
        let namespace = synced.and_then(|folder| namespace_of_source(coverage, &folder, instance));
        set_namespace(instance, namespace.as_deref().unwrap_or(groups::FLUX_NAMESPACE));
    }
}

/// Sets the namespaces of root Kustomizations without a namespace, and of the objects beside them.
pub(super) fn set_namespaces_of_kustomizations(tree: &Tree, coverage: &Coverage<'_>, candidates: &mut [RootCandidate]) {
    let is_of_flux = |object: &Object| is_flux(object) || object.group() == groups::FLUX_OPERATOR;
    let lacks_namespace = |object: &Object| object.namespace().is_none() && is_of_flux(object);
    for candidate in candidates.iter_mut().filter(|one| !one.is_of_operator()) {
        let synced = candidate.synced(tree);
        let Some(sync) = candidate.objects.last().filter(|object| lacks_namespace(object)) else { continue };
        let namespace = synced.and_then(|folder| namespace_of_source(coverage, &folder, sync));
        let namespace = namespace.as_deref().unwrap_or(groups::FLUX_NAMESPACE);
        for object in candidate.objects.iter_mut().filter(|object| lacks_namespace(object)) {
            set_namespace(object, namespace);
        }
    }
}

/// The namespace of the source that the Kustomizations of a synced directory use. The source has the name of the sync,
/// or the name of its namespace.
fn namespace_of_source(coverage: &Coverage<'_>, folder: &str, sync: &Object) -> Option<String> {
    let field = |key: &str| {
        let paths = [["spec", "sync", key], ["spec", "sourceRef", key]];
        paths.iter().find_map(|path| sync.text_at(path)).filter(|text| !text.is_empty())
    };
    let (kind, name) = (field("kind").unwrap_or("GitRepository"), field("name"));
    let inside = coverage.syncs.iter().filter(|sync| is_inside(&sync.file, folder));
    let used = inside.filter_map(|sync| source_of(&sync.object));
    let own = used.filter(|source| &*source.kind == kind && &*source.name == name.unwrap_or(&source.namespace));
    let namespaces: Vec<String> = own.map(|source| source.namespace.to_string()).collect();
    most_common(namespaces.iter().map(String::as_str)).map(ToString::to_string)
}

fn set_namespace(instance: &mut Object, namespace: &str) {
    let place = instance.span().clone();
    let made = map(vec![("namespace", text(namespace, &place))], &place);
    let metadata = instance.node.get("metadata").cloned();
    let metadata = match (metadata, made.entries()) {
        (Some(metadata), [namespace]) => metadata.with(namespace.clone()),
        _ => made,
    };
    if let [entry] = map(vec![("metadata", metadata)], &place).entries() {
        instance.node = instance.node.with(entry.clone());
    }
}
