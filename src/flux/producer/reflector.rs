//! Copies that the controller `reflector` creates, configured with annotations.

use regex::Regex;

use crate::base::finding::ObjectRef;
use crate::kube::Object;
use crate::text::{Index, Span};
use crate::yaml::{Name, Node};

const PREFIX: &str = "reflector.v1.k8s.emberstack.com";

/// The sources that reflector copies to other namespaces automatically, by kind and name.
#[derive(Debug, Clone, Default)]
pub(super) struct Reflected(Index<(Name, Name), Vec<Source>>);

#[derive(Debug, Clone)]
struct Source {
    namespace: Name,
    allowed: Patterns,
    automatic: Patterns,
    by: ObjectRef,
    place: Span,
}

/// Regular expressions for namespaces; an empty list matches all namespaces.
#[derive(Debug, Clone)]
struct Patterns(Vec<Regex>);

impl Patterns {
    fn read(list: Option<&str>) -> Self {
        let patterns = list.unwrap_or_default().split(',').map(str::trim).filter(|pattern| !pattern.is_empty());
        // The whole name must match.
        Self(patterns.map(|pattern| Regex::new(&format!("^(?:{pattern})$")).unwrap_or_else(|_| never())).collect())
    }

    fn take(&self, namespace: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|pattern| pattern.is_match(namespace))
    }
}

fn never() -> Regex {
    Regex::new("$^a").expect("the pattern is a valid regular expression")
}

/// Returns whether an annotation belongs to reflector.
pub(super) fn is_annotation(key: &str) -> bool {
    key.starts_with(PREFIX)
}

fn annotation<'a>(annotations: Option<&'a Node>, name: &str) -> Option<&'a str> {
    annotations?.get(&format!("{PREFIX}/{name}"))?.text()
}

fn annotations(object: &Object) -> Option<&Node> {
    object.node.at_keys(&["metadata", "annotations"])
}

impl Reflected {
    /// Registers an object if reflector copies it automatically.
    pub(super) fn take(&mut self, object: &Object) {
        let namespace: Name = object.namespace().unwrap_or_default().into();
        self.take_made(object, (object.kind().into(), namespace, object.name().into()), annotations(object));
    }

    /// Registers an object that an operator creates from `by`, if reflector copies it automatically. `id` is the kind,
    /// namespace and name of the object.
    pub(super) fn take_made(&mut self, by: &Object, id: (Name, Name, Name), annotations: Option<&Node>) {
        let is = |name: &str| annotation(annotations, name).is_some_and(|value| value.eq_ignore_ascii_case("true"));
        if !is("reflection-allowed") || !is("reflection-auto-enabled") {
            return;
        }
        let (kind, namespace, name) = id;
        let sources = self.0.entry((kind, name));
        sources.retain(|source| source.namespace != namespace);
        sources.push(Source {
            namespace,
            allowed: Patterns::read(annotation(annotations, "reflection-allowed-namespaces")),
            automatic: Patterns::read(annotation(annotations, "reflection-auto-namespaces")),
            by: by.reference(),
            place: by.span().clone(),
        });
    }

    /// The namespace of the source of a copy, with the reference and position of the source.
    pub(super) fn source(&self, kind: &str, namespace: &str, name: &str) -> Option<(Name, ObjectRef, Span)> {
        let sources = self.0.get(&(kind.into(), name.into()))?;
        let takes = |source: &&Source| {
            *source.namespace != *namespace && source.allowed.take(namespace) && source.automatic.take(namespace)
        };
        let found = sources.iter().find(takes)?;
        Some((found.namespace.clone(), found.by.clone(), found.place.clone()))
    }
}

/// The namespace and name of the source that an annotation of a copy references.
pub(super) fn reflects(object: &Object) -> Option<(String, String)> {
    let (namespace, name) = annotation(annotations(object), "reflects")?.split_once('/')?;
    Some((namespace.to_owned(), name.to_owned()))
}
