//! Positions in the object of an applier.

use super::distinct::written_position;
use crate::flux::{Applied, Applier};
use crate::kube::{ObjectId, groups};
use crate::text::Span;

/// The position of a span in the object of an applier, as the parent applier places it.
pub(crate) fn own_position(applier: &Applier, span: &Span) -> Span {
    applier.parent_applier.as_ref().map_or_else(|| span.clone(), |by| by.place(span))
}

/// The help for a reference of a copy of a Kustomization: the reference is right in the namespace of the original.
///
/// The path of the original contains its own file, and its `targetNamespace` changes the namespace of the copy.
pub(crate) fn narrowed_path(applied: &Applied<'_>) -> Option<String> {
    let object = applied.object;
    if !object.is(groups::KUSTOMIZE, "Kustomization") {
        return None;
    }
    let appliers = std::iter::successors(Some(applied.by), |by| by.parent_applier.as_ref());
    let own = appliers.filter_map(|by| by.object.as_ref());
    let mut copies = own.take_while(|own| written_position(own) == written_position(object));
    let original = copies.find(|own| ObjectId::of(own) != ObjectId::of(object))?.reference();
    let namespace = object.namespace().unwrap_or_default();
    Some(format!(
        "set `spec.path` of {original} to a directory that does not contain its own file, or move the file: the path \
         contains the file, so {original} applies a copy of itself to namespace `{namespace}`"
    ))
}
