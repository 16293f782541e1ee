//! The sources that objects name.

use super::wanted::{Wanted, said};
use crate::kube::Object;
use crate::kube::groups;
use crate::yaml::Node;

/// The kinds that name sources.
pub(crate) const BUILT_FROM_SOURCES: [(&str, &str); 4] = [
    (groups::KUSTOMIZE, "Kustomization"),
    (groups::HELM, "HelmRelease"),
    (groups::SOURCE, "HelmChart"),
    (groups::IMAGE, "ImageUpdateAutomation"),
];

/// A source that an object names.
pub(crate) struct SourceReference<'a> {
    /// The reference.
    pub(crate) node: &'a Node,
    pub(crate) wanted: Wanted<'a>,
}

/// The source that an object is built from, when that is known: of an object without namespace it is not.
pub(crate) fn source_of(object: &Object) -> Option<SourceReference<'_>> {
    let node = |keys: &[&str]| object.node.at_keys(keys).filter(|node| node.is_map());
    let kinds: &[&str];
    // source-controller looks for the source of a HelmChart beside it.
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
    let kind = said(reference, "kind").or(default_kind).filter(|kind| kinds.contains(kind))?;
    let namespace = said(reference, "namespace").filter(|_| !is_local).or(object.namespace())?;
    let wanted = Wanted { group: groups::SOURCE, kind, namespace, name: said(reference, "name")? };
    Some(SourceReference { node: reference.get("name").unwrap_or(reference), wanted })
}
