//! The walk over an object and its schema.

use super::constraints::{check_constraints, check_size};
use super::duplicates::check_items;
use super::metadata::{check_embedded, check_labels, check_metadata};
use super::mismatch::{Fault, Mismatch};
use super::path::Path;
use super::rules::check_rules;
use super::state::Walk;
use super::value::{has_type, is_null, is_unknown, retyped, type_name, type_of};
use crate::api::schema::{Additional, Schema, Type};
use crate::base::similar_names::did_you_mean;
use crate::cel::Budget;
use crate::kube::{Object, Scope};
use crate::yaml::{Entry, Node, Value};

/// The maximum nesting of an object. The API server rejects deeper JSON.
const MAX_DEPTH: usize = 1_000;

/// The key of SOPS metadata, which Flux removes before it applies the object.
const SOPS: &str = "sops";

/// The fields of a Kubernetes kind that its schema requires and the API server does not: it sets a default, or the
/// empty value is valid.
///
/// Source: the defaults and validations of `k8s.io/kubernetes/pkg/apis`.
const NOT_ENFORCED: &[&str] = &[
    "podSelector",
    "rules",
    "serviceName",
    "value",
    "apiGroup",
    "limits",
    "usages",
    "status",
    "conditions",
    "storedVersions",
    "acceptedNames",
    "currentReplicas",
    "desiredReplicas",
];

/// Validates an object with the schema of its kind. The result is bounded, and sorted by position in the object. `rules` is
/// the budget of the CEL rules.
pub fn validate(object: &Object, schema: &Schema, scope: Scope, is_typed: bool, rules: Budget) -> Vec<Mismatch> {
    let mut walk = Walk::new(object.kind(), is_typed, rules);
    let path = Path::root(&object.node);
    check_metadata(object, scope, &path, &mut walk);
    let Value::Map(entries) = &object.node.value else { return walk.found };
    for entry in entries.iter() {
        let path = path.entry(entry);
        match (&*entry.key, schema.field(&entry.key)) {
            ("apiVersion" | "kind" | "metadata" | SOPS, _) => {}
            ("status", Some(schema)) if !is_typed => walk.status(&entry.node, schema, &path),
            (_, Some(schema)) => walk.value(&entry.node, schema, &path),
            (name, None) => walk.unknown(name, schema, &path),
        }
    }
    walk.required(&object.node, schema, &path, &["apiVersion", "kind", "metadata"]);
    check_constraints(&object.node, schema, &path, &mut walk);
    walk.rules(&object.node, schema, &path, 0);
    walk.found
}

impl Walk {
    /// Checks the status. Server-side apply reads its fields; the API server then removes it, and the later checks do not
    /// see it.
    fn status(&mut self, node: &Node, schema: &Schema, path: &Path<'_>) {
        if is_null(node) {
            return;
        }
        let before = self.found.split_off(0);
        self.value(node, schema, path);
        let is_early = |found: &Mismatch| {
            matches!(found.fault, Fault::UnknownField | Fault::Type | Fault::Duplicate)
                && !found.message.contains("null")
        };
        let own = std::mem::replace(&mut self.found, before).into_iter().filter(is_early);
        self.found.extend(own);
    }

    fn value(&mut self, node: &Node, schema: &Schema, path: &Path<'_>) {
        if !self.step() || path.depth() > MAX_DEPTH || is_unknown(node) {
            return;
        }
        if is_null(node) {
            self.null(node, schema, path);
            return;
        }
        if let Some(expected) = schema.value_type
            && !has_type(node, expected)
        {
            let message = format!("is {} instead of {}", type_of(node), type_name(expected));
            self.add_at(Fault::Type, node, path, message, retyped(node, expected));
            return;
        }
        let before = self.found.len();
        match &node.value {
            Value::Map(entries) => {
                for entry in entries.iter() {
                    let path = path.entry(entry);
                    match schema.field(&entry.key) {
                        Some(schema) => self.field(entry, schema, &path),
                        None if schema.embedded && matches!(&*entry.key, "apiVersion" | "kind" | "metadata") => {}
                        None => self.unknown(&entry.key, schema, &path),
                    }
                }
                self.required(node, schema, path, &[]);
                if schema.embedded && !self.is_typed() {
                    self.missing(node, ["apiVersion", "kind"].into_iter(), path);
                    check_embedded(node, path, self);
                }
            }
            Value::Seq(items) => {
                if let Some(schema) = &schema.items {
                    for (index, item) in items.iter().enumerate() {
                        self.value(item, schema, &path.item(index, item));
                    }
                }
                check_items(node, schema, path, self);
            }
            Value::Scalar(..) if schema.constraints.is_none() => check_size(node, schema, path, self),
            Value::Scalar(..) => {}
        }
        check_constraints(node, schema, path, self);
        self.rules(node, schema, path, before);
    }

    /// Checks a field, and the labels in templates and selectors.
    fn field(&mut self, entry: &Entry, schema: &Schema, path: &Path<'_>) {
        let before = self.found.len();
        self.value(&entry.node, schema, path);
        if !self.is_typed() || self.found.len() > before {
            return;
        }
        let has_texts = |schema: &Schema| match &schema.additional {
            Additional::Each(value) => value.value_type == Some(Type::String),
            Additional::None | Additional::Any => false,
        };
        if &*entry.key == "matchLabels" && has_texts(schema) {
            check_labels(entry, path, self);
        } else if &*entry.key == "metadata"
            && schema.property("labels").is_some_and(has_texts)
            && let Some(labels) = entry.node.entry("labels").filter(|labels| labels.node.is_map())
        {
            check_labels(labels, &path.entry(labels), self);
        }
    }

    /// Checks the rules of a value without another fault, which a rule may depend on.
    fn rules(&mut self, node: &Node, schema: &Schema, path: &Path<'_>, before: usize) {
        if self.found.len() == before && !self.is_typed() {
            check_rules(node, schema, path, self);
        }
    }

    /// Checks null. Go reads it as the empty value; a custom resource needs `nullable`, or a default that replaces null.
    fn null(&mut self, node: &Node, schema: &Schema, path: &Path<'_>) {
        if self.is_typed() || schema.nullable || schema.default.is_some() {
            return;
        }
        if let Some(expected) = schema.value_type {
            let message = format!("is null instead of {}", type_name(expected));
            let help = if path.is_item() { "remove the item" } else { "set a value, or remove the field" };
            self.add_at(Fault::Type, node, path, message, Some(help.to_owned()));
        }
    }

    /// Reports a field that the schema does not declare.
    fn unknown(&mut self, name: &str, schema: &Schema, path: &Path<'_>) {
        let accepts_any = schema.preserves_unknown
            || matches!(schema.additional, Additional::Any)
            // The API server removes the fields of an object without declared fields, and reports nothing.
            || schema.properties.is_empty();
        if accepts_any || !self.step() {
            return;
        }
        let known = schema.properties.iter().map(|(name, _)| &**name);
        let meant = did_you_mean(name, known);
        let help = if let Some(meant) = meant {
            format!("did you mean `{meant}`?")
        } else {
            let known: Vec<String> = schema.properties.iter().take(12).map(|(name, _)| format!("`{name}`")).collect();
            let more = schema.properties.len() - known.len();
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            format!("remove it, or use one of the known fields: {}{more}", known.join(", "))
        };
        let message = format!("is not a field of {}", self.kind);
        self.add(Mismatch {
            fault: Fault::UnknownField,
            path: path.text(),
            at: path.key_span(),
            message,
            help: Some(help),
            meant: meant.map(str::to_owned),
        });
    }

    /// Reports the required fields that are missing.
    fn required(&mut self, node: &Node, schema: &Schema, path: &Path<'_>, root: &[&str]) {
        let enforced = |name: &&str| !(root.contains(name) || self.is_typed() && NOT_ENFORCED.contains(name));
        let has_default = |name: &&str| schema.property(name).is_some_and(|schema| schema.default.is_some());
        let names = schema.required.iter().map(|name| &**name).filter(enforced).filter(|name| !has_default(name));
        let names: Vec<&str> = names.collect();
        self.missing(node, names.into_iter(), path);
    }

    fn missing<'a>(&mut self, node: &Node, names: impl Iterator<Item = &'a str>, path: &Path<'_>) {
        for name in names {
            // Go reads null as the empty value. In a custom resource, null has another type.
            if node.get(name).is_some_and(|value| !self.is_typed() || !is_null(value)) {
                continue;
            }
            let (at, message) = (path.key_span(), "is missing".to_owned());
            self.add(Mismatch {
                fault: Fault::Missing,
                path: path.text_of(name),
                at,
                message,
                help: None,
                meant: None,
            });
        }
    }
}
