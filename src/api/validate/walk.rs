//! The walk over an object and its schema.

use super::constraints::check_constraints;
use super::duplicates::check_items;
use super::metadata::check_metadata;
use super::mismatch::{Fault, Mismatch};
use super::path::Path;
use super::state::Walk;
use super::value::{has_type, is_null, is_unknown, retyped, type_name, type_of};
use crate::api::schema::{Additional, Schema};
use crate::base::finding::did_you_mean;
use crate::kube::{Object, Scope};
use crate::yaml::{Node, Value};

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

/// Validates an object with the schema of its kind. The result is bounded, and sorted by position in the object.
pub fn validate(object: &Object, schema: &Schema, scope: Scope, is_typed: bool) -> Vec<Mismatch> {
    let mut walk = Walk::new(object.kind(), is_typed);
    let path = Path::root(&object.node);
    check_metadata(object, scope, &path, &mut walk);
    let Value::Map(entries) = &object.node.value else { return walk.found };
    for entry in entries.iter() {
        let path = path.entry(entry);
        match (&*entry.key, schema.field(&entry.key)) {
            ("apiVersion" | "kind" | "metadata" | SOPS, _) => {}
            (_, Some(schema)) => walk.value(&entry.node, schema, &path),
            (name, None) => walk.unknown(name, schema, &path),
        }
    }
    walk.required(&object.node, schema, &path, &["apiVersion", "kind", "metadata"]);
    check_constraints(&object.node, schema, &path, &mut walk);
    walk.found
}

impl Walk {
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
        match &node.value {
            Value::Map(entries) => {
                for entry in entries.iter() {
                    let path = path.entry(entry);
                    match schema.field(&entry.key) {
                        Some(schema) => self.value(&entry.node, schema, &path),
                        None if schema.embedded && matches!(&*entry.key, "apiVersion" | "kind" | "metadata") => {}
                        None => self.unknown(&entry.key, schema, &path),
                    }
                }
                self.required(node, schema, path, &[]);
                if schema.embedded && !self.is_typed() {
                    self.missing(node, ["apiVersion", "kind"].into_iter(), path);
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
            Value::Scalar(..) => {}
        }
        check_constraints(node, schema, path, self);
    }

    /// Checks null. The API server removes the fields of objects that are null, unless null is valid.
    fn null(&mut self, node: &Node, schema: &Schema, path: &Path<'_>) {
        let is_item = path.is_item();
        if self.is_typed() || schema.nullable || !is_item || schema.default.is_some() {
            return;
        }
        if let Some(expected) = schema.value_type {
            let message = format!("is null instead of {}", type_name(expected));
            self.add_at(Fault::Type, node, path, message, Some("remove the item".to_owned()));
        }
    }

    /// Reports a field that the schema does not declare.
    fn unknown(&mut self, name: &str, schema: &Schema, path: &Path<'_>) {
        let accepts_any = schema.preserves_unknown
            || matches!(schema.additional, Additional::Any)
            || schema.value_type.is_none() && schema.properties.is_empty();
        if accepts_any || !self.step() {
            return;
        }
        let known = schema.properties.iter().map(|(name, _)| &**name);
        let help = match did_you_mean(name, known) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if schema.properties.is_empty() => "remove it: the field has no fields".to_owned(),
            None => {
                let known: Vec<String> =
                    schema.properties.iter().take(12).map(|(name, _)| format!("`{name}`")).collect();
                let more = schema.properties.len() - known.len();
                let more = if more == 0 { String::new() } else { format!(" and {more} more") };
                format!("remove it, or use one of the known fields: {}{more}", known.join(", "))
            }
        };
        let message = format!("is not a field of {}", self.kind);
        self.add(Mismatch {
            fault: Fault::UnknownField,
            path: path.text(),
            at: path.key_span(),
            message,
            help: Some(help),
        });
    }

    /// Reports the required fields that are missing.
    fn required(&mut self, node: &Node, schema: &Schema, path: &Path<'_>, root: &[&str]) {
        let enforced = |name: &&str| !root.contains(name) && !(self.is_typed() && NOT_ENFORCED.contains(name));
        let has_default = |name: &&str| schema.property(name).is_some_and(|schema| schema.default.is_some());
        let names = schema.required.iter().map(|name| &**name).filter(enforced).filter(|name| !has_default(name));
        let names: Vec<&str> = names.collect();
        self.missing(node, names.into_iter(), path);
    }

    fn missing<'a>(&mut self, node: &Node, names: impl Iterator<Item = &'a str>, path: &Path<'_>) {
        for name in names {
            // The API server removes null before it looks for required fields. A Kubernetes type reads it as empty.
            if node.get(name).is_some_and(|value| !is_null(value)) {
                continue;
            }
            let (at, message) = (path.key_span(), "is missing".to_owned());
            self.add(Mismatch { fault: Fault::Missing, path: path.text_of(name), at, message, help: None });
        }
    }
}
