//! Copies that mittwald's `kubernetes-replicator` creates or fills, configured with annotations.
//!
//! Source: `generic-replicator.go` of kubernetes-replicator.

use super::produced::ObjectLookup;
use crate::base::finding::ObjectRef;
use crate::base::go_regexp::Regexp;
use crate::kube::Object;
use crate::kube::selector::Selector;
use crate::text::{Index, Span};
use crate::yaml::{Name, Node};

const PREFIX: &str = "replicator.v1.mittwald.de";

/// The sources that the controller copies to other namespaces, by kind and name.
#[derive(Debug, Clone, Default)]
pub(super) struct Replicated(Index<(Name, Name), Vec<Source>>);

#[derive(Debug, Clone)]
struct Source {
    namespace: Name,
    /// The patterns of `replicate-to`.
    patterns: Vec<Regexp>,
    /// The selector of `replicate-to-matching`.
    selector: Option<Selector>,
    by: ObjectRef,
    place: Span,
}

/// Returns whether an annotation belongs to the controller.
pub(super) fn is_annotation(key: &str) -> bool {
    key.starts_with(PREFIX)
}

fn annotation<'a>(annotations: Option<&'a Node>, name: &str) -> Option<&'a str> {
    annotations?.get(&format!("{PREFIX}/{name}"))?.text()
}

fn annotations(object: &Object) -> Option<&Node> {
    object.node.at_keys(&["metadata", "annotations"])
}

impl Replicated {
    /// Registers an object if the controller copies it to other namespaces.
    pub(super) fn take(&mut self, object: &Object) {
        let namespace: Name = object.namespace().unwrap_or_default().into();
        self.take_made(object, (object.kind().into(), namespace, object.name().into()), annotations(object));
    }

    /// Registers an object that an operator creates from `by`, if the controller copies it. `id` is the kind, namespace
    /// and name of the object.
    pub(super) fn take_made(&mut self, by: &Object, id: (Name, Name, Name), annotations: Option<&Node>) {
        // The controller ignores the targets of an object that it fills.
        if annotation(annotations, "replicate-from").is_some() {
            return;
        }
        let targets = annotation(annotations, "replicate-to");
        let matching = annotation(annotations, "replicate-to-matching");
        if targets.is_none() && matching.is_none() {
            return;
        }
        let (kind, namespace, name) = id;
        let sources = self.0.entry((kind, name));
        sources.retain(|source| source.namespace != namespace);
        sources.push(Source {
            namespace,
            patterns: targets.unwrap_or_default().split(',').filter_map(pattern).collect(),
            selector: matching.and_then(Selector::parse),
            by: by.reference(),
            place: by.span().clone(),
        });
    }

    /// The namespace of the source of a copy, with the reference and position of the source.
    pub(super) fn source(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
        known: ObjectLookup<'_>,
    ) -> Option<(Name, ObjectRef, Span)> {
        let sources = self.0.get(&(kind.into(), name.into()))?;
        let found = sources.iter().find(|source| source.reaches(namespace, known))?;
        Some((found.namespace.clone(), found.by.clone(), found.place.clone()))
    }
}

impl Source {
    fn reaches(&self, namespace: &str, known: ObjectLookup<'_>) -> bool {
        if *self.namespace == *namespace {
            return false;
        }
        if self.patterns.iter().any(|pattern| pattern.is_match(namespace)) {
            return true;
        }
        let Some(selector) = &self.selector else { return false };
        let found = known("Namespace", "", namespace);
        let label = |key: &str| match key {
            "kubernetes.io/metadata.name" => Some(namespace),
            key => found.as_ref()?.label(key),
        };
        selector.selects(label)
    }
}

/// The pattern of a namespace, which the controller anchors without a group; `None` if the pattern is empty or invalid.
fn pattern(text: &str) -> Option<Regexp> {
    let text = text.trim();
    let start = if text.starts_with('^') { "" } else { "^" };
    let end = if text.ends_with('$') { "" } else { "$" };
    Regexp::compile(&format!("{start}{text}{end}")).ok().filter(|_| !text.is_empty())
}

/// Returns whether the controller adds the keys of another object to an object, whose own keys stay.
pub(super) fn is_filled(object: &Object) -> bool {
    annotation(annotations(object), "replicate-from").is_some()
}
