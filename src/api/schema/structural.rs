//! The rules that the API server applies to the schema of a `CustomResourceDefinition`: it must be structural.
//!
//! Source: `ValidateCustomResourceDefinitionOpenAPISchema` and `validateStructuralInvariants` of
//! `k8s.io/apiextensions-apiserver`.

use super::fields::{is_true, texts};
use crate::base::go_regexp::{Refused, Regexp};
use crate::text::{Index, Span};
use crate::yaml::Node;

/// The place of a schema in its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// The schema of the kind.
    Root,
    /// The schema of a field, or of additional fields.
    Field,
    /// The schema of the items of a list.
    Item,
    /// An alternative, which only adds constraints.
    Alternative,
}

/// A part of a schema that the API server rejects. The part is ignored.
#[derive(Debug, Clone)]
pub struct Mistake {
    /// The position of the part.
    pub at: Span,
    /// The mistake and its reason.
    pub message: String,
}

/// Checks one schema without its children. `patterns` are the patterns of all schemas.
pub(super) fn check(node: &Node, level: Level, patterns: &mut Patterns) -> Vec<Mistake> {
    let mut checking = Checking { mistakes: Vec::new(), patterns };
    checking.schema(node, level);
    checking.mistakes
}

struct Checking<'a> {
    mistakes: Vec<Mistake>,
    patterns: &'a mut Patterns,
}

/// The patterns of schemas. The definition of a pod repeats a few patterns at hundreds of fields.
#[derive(Default)]
pub(super) struct Patterns {
    /// The number of states of each pattern, or why it does not compile.
    known: Index<String, Result<usize, Refused>>,
    /// The states of all patterns.
    states: usize,
}

impl Patterns {
    /// Compiles a pattern, unless it is known. Returns why it does not compile.
    fn add(&mut self, pattern: &str) -> Result<(), Refused> {
        let states = self.known.get(pattern).copied().unwrap_or_else(|| {
            let states = Regexp::compile_of_schema(pattern).map(|compiled| compiled.steps(""));
            *self.known.entry_or(pattern.to_owned(), || states)
        });
        self.states += match states {
            Err(Refused::Size) => STATES_OF_LARGEST,
            states => states?,
        };
        Ok(())
    }
}

/// The maximum number of states of all patterns. Further patterns are not checked here; their use is limited, too.
const MAX_STATES: usize = 4_000_000;

/// The states of a pattern that is too large.
const STATES_OF_LARGEST: usize = 32_768;

impl Checking<'_> {
    fn pattern(&mut self, at: &Node) {
        let Some(pattern) = at.text() else { return };
        if let Err(refused) = self.patterns.add(pattern) {
            self.mistake(at.span(), format!("`pattern` is not a valid regular expression: {refused}"));
        }
    }

    fn schema(&mut self, node: &Node, level: Level) {
        let text = |field: &str| node.get(field).and_then(Node::text);
        let is_set = |field: &str| node.get(field).is_some_and(is_true);
        let kind = text("type").unwrap_or_default();
        if let Some(entry) = node.entry("uniqueItems").filter(|entry| is_true(&entry.node)) {
            self.mistake(
                &entry.key_span(),
                "`uniqueItems: true` is forbidden: set `x-kubernetes-list-type: set`".into(),
            );
        }
        if let Some(at) = node.get("pattern").filter(|_| self.patterns.states < MAX_STATES) {
            self.pattern(at);
        }
        if level == Level::Alternative {
            return;
        }
        if kind.is_empty()
            && node.get("$ref").is_none()
            && !is_set("x-kubernetes-int-or-string")
            && !is_set("x-kubernetes-preserve-unknown-fields")
        {
            let of = match level {
                Level::Root => "the kind",
                Level::Item => "items",
                Level::Field | Level::Alternative => "a field",
            };
            self.mistake(
                node.span(),
                format!(
                    "the schema of {of} has no `type`, so it is not structural: set `type`, or \
                         `x-kubernetes-preserve-unknown-fields: true` for any value"
                ),
            );
        }
        if level == Level::Root && !kind.is_empty() && kind != "object" {
            self.mistake(node.span(), "the schema of the kind must have `type: object`".into());
        }
        if let Some(entry) = node.entry("additionalProperties").filter(|entry| !entry.node.is_null()) {
            let is_any = is_true(&entry.node);
            if level == Level::Root && entry.node.is_map() {
                self.mistake(&entry.key_span(), "`additionalProperties` is forbidden at the root of the schema".into());
            } else if node.get("properties").is_some_and(|fields| !fields.entries().is_empty()) && !is_any {
                let message = "`additionalProperties` and `properties` exclude each other: remove one of them";
                self.mistake(&entry.key_span(), message.into());
            }
        }
        if let Some(entry) = node.entry("x-kubernetes-list-type").filter(|entry| !entry.node.is_null()) {
            if kind != "array" {
                self.mistake(&entry.key_span(), "`x-kubernetes-list-type` needs `type: array`".into());
            } else if entry.node.text() == Some("map") {
                self.keys(node);
            }
        }
        if is_set("x-kubernetes-embedded-resource") && kind != "object" {
            self.mistake(node.span(), "`x-kubernetes-embedded-resource` needs `type: object`".into());
        }
    }

    /// Checks the keys of a list of type `map`.
    fn keys(&mut self, node: &Node) {
        let keys = node.get("x-kubernetes-list-map-keys").map(texts).unwrap_or_default();
        if keys.is_empty() {
            let message = "a list of type `map` needs `x-kubernetes-list-map-keys`: the fields that identify an item";
            self.mistake(node.span(), message.into());
        }
        let Some(items) = node.get("items") else {
            self.mistake(node.span(), "a list of type `map` needs `items`".into());
            return;
        };
        if items.get("type").and_then(Node::text) != Some("object") {
            self.mistake(items.span(), "the items of a list of type `map` need `type: object`".into());
            return;
        }
        for key in &keys {
            if items.at_keys(&["properties", key]).is_none()
                && let Some(at) = node.get("x-kubernetes-list-map-keys")
            {
                self.mistake(
                    at.span(),
                    format!("key `{key}` is not a field of the items: add it to their `properties`"),
                );
            }
        }
    }

    fn mistake(&mut self, at: &Span, message: String) {
        self.mistakes.push(Mistake { at: at.clone(), message });
    }
}
