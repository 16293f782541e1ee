//! Whether patches found objects: kustomize says nothing where a target selects none.

use super::resources::Resources;
use super::selector::Target;
use crate::base::finding::ObjectRef;
use crate::kube::Object;
use crate::text::Span;
use crate::yaml::Node;

/// For so many patches of a folder that find nothing, it is looked for what they probably meant.
const MAX_MEANT: usize = 100;

/// A patch that says by a `target` which objects it is for, and whether there were any.
#[derive(Debug, Clone)]
pub struct Laid {
    /// The place of its `target`.
    pub place: Span,
    /// Whether it selected an object.
    pub found: bool,
    /// What it asks for, as it is written; empty where it found something.
    pub asks: String,
    /// The object that it would select but for one field, and that field.
    pub meant: Option<(&'static str, ObjectRef, Span)>,
}

impl Laid {
    /// One that found something.
    pub(crate) fn found(target: &Node) -> Self {
        Self { place: target.span().clone(), found: true, asks: String::new(), meant: None }
    }

    /// One that found nothing among the objects that are there; `before` is how many did so before.
    pub(crate) fn missed(node: &Node, target: &Target, resources: &Resources, before: usize) -> Self {
        let said = node.entries().iter().filter_map(|entry| Some((&entry.key, entry.node.text()?)));
        let asks: Vec<String> = said.map(|(key, text)| format!("`{key}: {text}`")).collect();
        let meant = if before < MAX_MEANT { target.nearly(resources) } else { None };
        let meant = meant.and_then(|(field, position)| {
            let object = Object::new(resources.list.get(position)?.node.clone())?;
            Some((field, object.reference(), object.span().clone()))
        });
        Self { place: node.span().clone(), found: false, asks: asks.join(", "), meant }
    }
}

/// Leaves one of those that say the same of one place, so that a base which is included often does not say it often.
pub(crate) fn settle(laid: &mut Vec<Laid>) {
    fn key(laid: &Laid) -> (Option<&str>, &str, usize, bool) {
        let file = laid.place.file();
        (file.root().map(|root| &**root), file.path(), laid.place.range().start, !laid.found)
    }
    laid.sort_by(|a, b| key(a).cmp(&key(b)));
    laid.dedup_by(|later, first| {
        let (a, b) = (key(later), key(first));
        (a.0, a.1, a.2) == (b.0, b.1, b.2)
    });
}
