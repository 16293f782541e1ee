//! The sources of Flux objects, in `sourceRef`, `chartRef` and similar fields.

use super::reference::Reference;
use crate::kube::{Object, ObjectId, groups};
use crate::lint::fields::text_of;
use crate::yaml::Node;

/// The kinds that reference a source.
pub(crate) const BUILT_FROM_SOURCES: [(&str, &str); 4] = [
    (groups::KUSTOMIZE, "Kustomization"),
    (groups::HELM, "HelmRelease"),
    (groups::SOURCE, "HelmChart"),
    (groups::IMAGE, "ImageUpdateAutomation"),
];

/// The kinds that make an artifact from other sources.
pub(crate) const MADE_OF_SOURCES: [(&str, &str); 2] =
    [(groups::SOURCE, "GitRepository"), (groups::SOURCE_EXTENSIONS, "ArtifactGenerator")];

/// The source of an object; `None` if its namespace or kind is unknown.
pub(crate) fn source_of(object: &Object) -> Option<Reference<'_>> {
    let node = |keys: &[&str]| object.node.at_keys(keys).filter(|node| node.is_map());
    let kinds: &[&str];
    // The source of a HelmChart is in the namespace of the HelmChart.
    let (mut is_local, mut default_kind) = (false, None);
    let reference = match (object.group(), object.kind()) {
        (groups::KUSTOMIZE, "Kustomization") => {
            kinds = &["GitRepository", "OCIRepository", "Bucket", "ExternalArtifact"];
            node(&["spec", "sourceRef"])?
        }
        (groups::HELM, "HelmRelease") => {
            if let Some(chart) = node(&["spec", "chartRef"]) {
                kinds = &["OCIRepository", "HelmChart", "ExternalArtifact"];
                chart
            } else {
                kinds = &["HelmRepository", "GitRepository", "Bucket"];
                node(&["spec", "chart", "spec", "sourceRef"])?
            }
        }
        (groups::SOURCE, "HelmChart") => {
            kinds = &["HelmRepository", "GitRepository", "Bucket"];
            is_local = true;
            node(&["spec", "sourceRef"])?
        }
        (groups::IMAGE, "ImageUpdateAutomation") => {
            kinds = &["GitRepository"];
            default_kind = Some("GitRepository");
            node(&["spec", "sourceRef"])?
        }
        _ => return None,
    };
    let kind = text_of(reference, "kind").or(default_kind).filter(|kind| kinds.contains(kind))?;
    let namespace = text_of(reference, "namespace").filter(|_| !is_local).or(object.namespace())?;
    let target = ObjectId { group: groups::SOURCE, kind, namespace, name: text_of(reference, "name")? };
    Some(Reference { node: reference.get("name").unwrap_or(reference), target })
}

/// The sources that a GitRepository includes, or that an ArtifactGenerator copies from.
pub(crate) fn input_sources(object: &Object) -> impl Iterator<Item = Reference<'_>> {
    let (is_generator, list) = match (object.group(), object.kind()) {
        (groups::SOURCE_EXTENSIONS, "ArtifactGenerator") => (true, object.node.at_keys(&["spec", "sources"])),
        (groups::SOURCE, "GitRepository") => (false, object.node.at_keys(&["spec", "include"])),
        _ => (false, None),
    };
    list.map_or(&[][..], Node::items).iter().filter_map(move |item| {
        if is_generator {
            Reference::read(item, groups::SOURCE, text_of(item, "kind")?, object.namespace())
        } else {
            Reference::local(item.get("repository")?, groups::SOURCE, "GitRepository", object.namespace())
        }
    })
}
