//! Patches with a `target` and entries of `images`, and whether they match. kustomize does not report one without a match.

use super::resources::Resources;
use super::selector::Selector;
use crate::base::finding::ObjectRef;
use crate::kube::Object;
use crate::text::Span;
use crate::yaml::Node;

/// The maximum number of unmatched patches of a directory for which a near match is searched.
const MAX_NEAR_MATCHES: usize = 100;

/// The maximum number of objects with a variable in their name that a [`PatchTarget`] contains.
const MAX_VARIABLE_NAMES: usize = 5;

/// A patch with a `target`, and whether the target selected an object; or an entry of `images`, and whether a container
/// has the image.
#[derive(Debug, Clone)]
pub struct PatchTarget {
    /// The position of `target`, or of the name of an image.
    pub place: Span,
    /// The list that contains the entry.
    pub list: TargetList,
    /// Whether the target selected an object, or may select an object that the build lacks.
    pub is_matched: bool,
    /// The fields of `target` as written; empty if the target matched.
    pub selector: String,
    /// One field, and the object that differs from the target in this field only.
    pub near_match: Option<(&'static str, ObjectRef, Span)>,
    /// The target's name, and the objects with a variable in their name that differ from the target in the name only.
    pub variable_names: Option<(String, Vec<(ObjectRef, Span)>)>,
    /// Whether the target selects objects of a kind by label or annotation and not by name, so that objects may opt in.
    pub is_opt_in: bool,
    /// Whether a Component contains the entry of `images`, or a target that selects all objects of a kind, so that it is
    /// meant for all users of the Component.
    pub is_general: bool,
}

/// A list of a kustomization whose entries select something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetList {
    /// A list of patches, each with a target.
    Patches,
    /// The list of images.
    Images,
}

/// Returns whether a target selects all objects of a kind.
fn is_by_kind(target: &Node) -> bool {
    let fields = || target.entries().iter().map(|entry| &*entry.key);
    fields().any(|field| field == "kind") && fields().all(|field| matches!(field, "group" | "version" | "kind"))
}

impl PatchTarget {
    /// A target that selected an object, or may select an object that the build lacks.
    pub(crate) fn matched(target: &Node) -> Self {
        Self {
            place: target.span().clone(),
            list: TargetList::Patches,
            is_matched: true,
            selector: String::new(),
            near_match: None,
            variable_names: None,
            is_opt_in: false,
            is_general: is_by_kind(target),
        }
    }

    /// A target that selected no object; `unmatched_before` is the number of earlier targets without an object.
    pub(crate) fn unmatched(node: &Node, target: &Selector, resources: &Resources, unmatched_before: usize) -> Self {
        let texts = node.entries().iter().filter_map(|entry| Some((&entry.key, entry.node.text()?)));
        let selector: Vec<String> = texts.map(|(key, text)| format!("`{key}: {text}`")).collect();
        let near_match = if unmatched_before < MAX_NEAR_MATCHES { target.near_match(resources) } else { None };
        let object = |position: usize| {
            let object = Object::new(resources.list.get(position)?.node.clone())?;
            Some((object.reference(), object.span().clone()))
        };
        let near_match = near_match.and_then(|(field, position)| {
            let (object, span) = object(position)?;
            Some((field, object, span))
        });
        let variable_names = target.literal_name().and_then(|name| {
            let positions = target.with_variable_in_name(resources).take(MAX_VARIABLE_NAMES);
            let objects: Vec<(ObjectRef, Span)> = positions.filter_map(object).collect();
            (!objects.is_empty()).then(|| (name.to_owned(), objects))
        });
        Self {
            place: node.span().clone(),
            list: TargetList::Patches,
            is_matched: false,
            selector: selector.join(", "),
            near_match,
            variable_names,
            is_opt_in: target.is_opt_in(),
            is_general: is_by_kind(node),
        }
    }

    /// The entry of `images` with a name.
    pub(crate) fn image(name: &Node, is_matched: bool) -> Self {
        Self {
            list: TargetList::Images,
            is_matched,
            selector: if is_matched { String::new() } else { name.text().unwrap_or_default().to_owned() },
            is_general: true,
            ..Self::matched(name)
        }
    }
}

/// Merges entries at the same position, because a base may be included several times.
pub(crate) fn deduplicate(targets: &mut Vec<PatchTarget>) {
    fn key(target: &PatchTarget) -> (Option<&str>, &str, usize, bool) {
        let file = target.place.file();
        (file.root().map(|root| &**root), file.path(), target.place.range().start, !target.is_matched)
    }
    targets.sort_by(|a, b| key(a).cmp(&key(b)));
    targets.dedup_by(|duplicate, kept| {
        let (a, b) = (key(duplicate), key(kept));
        (a.0, a.1, a.2) == (b.0, b.1, b.2)
    });
}
