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

/// The kinds that make an artifact from other sources, or objects from input providers.
pub(crate) const MADE_OF_SOURCES: [(&str, &str); 3] = [
    (groups::SOURCE, "GitRepository"),
    (groups::SOURCE_EXTENSIONS, "ArtifactGenerator"),
    (groups::FLUX_OPERATOR, "ResourceSet"),
];

/// The kind of the objects that provide the inputs of ResourceSets.
pub(crate) const INPUT_PROVIDER: &str = "ResourceSetInputProvider";

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

/// The sources that a GitRepository includes, that an ArtifactGenerator copies from, or that provide the inputs of a ResourceSet.
pub(crate) fn input_sources(object: &Object) -> impl Iterator<Item = Reference<'_>> {
    let path = match (object.group(), object.kind()) {
        (groups::SOURCE_EXTENSIONS, "ArtifactGenerator") => "sources",
        (groups::SOURCE, "GitRepository") => "include",
        (groups::FLUX_OPERATOR, "ResourceSet") => "inputsFrom",
        _ => "",
    };
    let list = object.node.at_keys(&["spec", path]).map_or(&[][..], Node::items);
    list.iter().filter_map(move |item| match path {
        "sources" => Reference::read(item, groups::SOURCE, text_of(item, "kind")?, object.namespace()),
        "include" => Reference::local(item.get("repository")?, groups::SOURCE, "GitRepository", object.namespace()),
        // A provider with a selector may select any number of objects.
        _ => provider(item.get("name")?, object.namespace()),
    })
}

/// The reference of a ResourceSet to an input provider.
fn provider<'a>(name: &'a Node, namespace: Option<&'a str>) -> Option<Reference<'a>> {
    let text = name.text().filter(|text| !text.is_empty())?;
    let target = ObjectId { group: groups::FLUX_OPERATOR, kind: INPUT_PROVIDER, namespace: namespace?, name: text };
    Some(Reference { node: name, target })
}
