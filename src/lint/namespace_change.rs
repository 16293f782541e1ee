//! Namespaces of manifests that `namespace` of a kustomization or `targetNamespace` of an applier replaces.

use crate::flux::{Applied, ApplierKind};
use crate::kube::Object;
use crate::text::Span;
use crate::yaml::{ChangedBy, Origin};

/// The replacement of the namespace in a manifest, or of the name of a Namespace.
pub(crate) struct NamespaceChange<'a> {
    /// `namespace` or `targetNamespace`.
    pub(crate) field: &'static str,
    /// The file or the applier that sets the field, for messages.
    pub(crate) of: String,
    /// The position of the new namespace.
    pub(crate) place: &'a Span,
    /// The position of the replaced namespace.
    pub(crate) written: &'a Span,
}

impl<'a> NamespaceChange<'a> {
    /// The replacement of a field of the metadata of an object.
    pub(crate) fn of(applied: &Applied<'a>, key: &str) -> Option<Self> {
        // The inputs of a ResourceSet may be a part of the text.
        if applied.by.kind == ApplierKind::ResourceSet {
            return None;
        }
        let Origin::Via(change) = &applied.object.node.at_keys(&["metadata", key])?.origin else { return None };
        let Some(Origin::At(written)) = &change.previous else { return None };
        let (ChangedBy::Field(place) | ChangedBy::Applier(place)) = &change.by else { return None };
        if written.file().root().is_some() {
            return None;
        }
        let is_set = |applier: &Object| {
            applier.node.at_keys(&["spec", "targetNamespace"]).is_some_and(|target| target.span() == place)
        };
        let (field, of) = if applied.by.object.iter().chain(&*applied.by.shares_with).any(is_set) {
            ("targetNamespace", applied.by.reference.to_string())
        } else {
            ("namespace", format!("`{}`", place.file().path()))
        };
        Some(Self { field, of, place, written })
    }
}
