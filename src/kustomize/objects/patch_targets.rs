//! Whether patches found objects: kustomize says nothing where a target selects none.

use super::resources::Resources;
use super::selector::Selector;
use crate::base::finding::ObjectRef;
use crate::kube::Object;
use crate::text::Span;
use crate::yaml::Node;

/// For so many patches of a folder that find nothing, it is looked for what they probably meant.
const MAX_NEAR_MATCHES: usize = 100;

/// A patch that says by a `target` which objects it is for, and whether there were any.
#[derive(Debug, Clone)]
pub struct PatchTarget {
    /// The place of its `target`.
    pub place: Span,
    /// Whether it selected an object.
    pub is_matched: bool,
    /// What it asks for, as it is written; empty where it found something.
    pub selector: String,
    /// The object that it would select but for one field, and that field.
    pub near_match: Option<(&'static str, ObjectRef, Span)>,
}

impl PatchTarget {
    /// One that found something.
    pub(crate) fn matched(target: &Node) -> Self {
        Self { place: target.span().clone(), is_matched: true, selector: String::new(), near_match: None }
    }

    /// One that found nothing among the objects that are there; `before` is how many did so before.
    pub(crate) fn unmatched(node: &Node, target: &Selector, resources: &Resources, unmatched_before: usize) -> Self {
        let texts = node.entries().iter().filter_map(|entry| Some((&entry.key, entry.node.text()?)));
        let selector: Vec<String> = texts.map(|(key, text)| format!("`{key}: {text}`")).collect();
        let near_match = if unmatched_before < MAX_NEAR_MATCHES { target.near_match(resources) } else { None };
        let near_match = near_match.and_then(|(field, position)| {
            let object = Object::new(resources.list.get(position)?.node.clone())?;
            Some((field, object.reference(), object.span().clone()))
        });
        Self { place: node.span().clone(), is_matched: false, selector: selector.join(", "), near_match }
    }
}

/// Leaves one of those that say the same of one place, so that a base which is included often does not say it often.
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
