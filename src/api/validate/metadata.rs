//! The fields of `metadata`.
//!
//! Source: `ValidateObjectMeta` of `k8s.io/apimachinery/pkg/api/validation`, and the name functions of each kind.

use super::mismatch::{Fault, Mismatch};
use super::names::{
    is_dns_1035_label, is_dns_label, is_dns_subdomain, is_label_value, is_path_segment, is_qualified_name,
};
use super::path::Path;
use super::state::Walk;
use super::value::{is_null, is_unknown, retyped, scalar, type_of};
use crate::base::similar_names::did_you_mean;
use crate::kube::{Object, Scope, groups};
use crate::text::Span;
use crate::yaml::{ChangedBy, Entry, Node, Origin, Scalar, Value};

/// The fields of `metadata`.
const FIELDS: &[&str] = &[
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// The maximum size of all annotations in bytes.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// Checks the metadata of an object.
pub(super) fn check_metadata(object: &Object, scope: Scope, root: &Path<'_>, walk: &mut Walk) {
    check_fields(&object.node, scope, root, walk, &|name| fault_of_name(object, name));
}

/// Checks the identity of an object in a field of another object.
pub(super) fn check_embedded(node: &Node, path: &Path<'_>, walk: &mut Walk) {
    for entry in node.entries().iter().filter(|entry| matches!(&*entry.key, "apiVersion" | "kind")) {
        check_text(entry, &path.entry(entry), walk, |text| {
            let is_version = &*entry.key == "kind" || text.matches('/').count() < 2;
            (text.is_empty() || !is_version).then(|| format!("which is not a valid `{}`", entry.key))
        });
    }
    check_fields(node, Scope::Unknown, path, walk, &|name| {
        (!is_path_segment(name)).then(|| "which is not a valid name: use no `/` and no `%`".to_owned())
    });
}

fn check_fields(
    node: &Node,
    scope: Scope,
    root: &Path<'_>,
    walk: &mut Walk,
    fault_of_name: &dyn Fn(&str) -> Option<String>,
) {
    let Some(entry) = node.entry("metadata") else { return };
    let path = root.entry(entry);
    if is_null(&entry.node) || is_unknown(&entry.node) {
        return;
    }
    if !entry.node.is_map() {
        let message = format!("is {} instead of a mapping", type_of(&entry.node));
        walk.add_at(Fault::Type, &entry.node, &path, message, None);
        return;
    }
    for field in entry.node.entries() {
        let path = path.entry(field);
        if !walk.step() || is_null(&field.node) || is_unknown(&field.node) {
            continue;
        }
        match &*field.key {
            "name" => check_text(field, &path, walk, fault_of_name),
            "namespace" if scope == Scope::Namespaced => check_text(field, &path, walk, |text| {
                (!text.is_empty() && !is_dns_label(text)).then(|| {
                    "which is not a valid namespace: use at most 63 lower-case letters, digits and `-`".to_owned()
                })
            }),
            "labels" => check_labels(field, &path, walk),
            "annotations" => check_annotations(field, &path, walk),
            key if !FIELDS.contains(&key) => {
                let help = match did_you_mean(key, FIELDS.iter().copied()) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => "move it to `labels` or `annotations`, or remove it".to_owned(),
                };
                walk.add(Mismatch {
                    fault: Fault::UnknownField,
                    path: path.text(),
                    at: path.key_span(),
                    message: "is not a field of `metadata`".to_owned(),
                    help: Some(help),
                    meant: did_you_mean(key, FIELDS.iter().copied()).map(str::to_owned),
                });
            }
            _ => {}
        }
    }
}

/// Checks a field that must be a string.
fn check_text(entry: &Entry, path: &Path<'_>, walk: &mut Walk, fault: impl Fn(&str) -> Option<String>) {
    let Some(Scalar::String(text)) = scalar(&entry.node) else {
        let message = format!("is {} instead of a string", type_of(&entry.node));
        let help = retyped(&entry.node, crate::api::schema::Type::String);
        walk.add_at(Fault::Type, &entry.node, path, message, help);
        return;
    };
    if let Some(fault) = fault(text) {
        walk.add(Mismatch {
            fault: Fault::Metadata,
            path: path.text(),
            at: place_of_fault(&entry.node, text).clone(),
            message: format!("is `{}`, {fault}", short(text)),
            help: None,
            meant: None,
        });
    }
}

/// The position that adds the first invalid character of a name, such as a prefix. It is not always the last change.
fn place_of_fault<'a>(node: &'a Node, text: &str) -> &'a Span {
    let is_valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let Some(invalid) = text.chars().find(|c| !is_valid(*c)) else { return node.span() };
    let mut place = None;
    let mut origin = Some(&node.origin);
    while let Some(current) = origin {
        let (span, previous) = match current {
            Origin::At(span) => (Some(span), None),
            Origin::Via(step) => match &step.by {
                // A patch or a generator replaces the whole value.
                ChangedBy::Patch(span) | ChangedBy::Generator(span) => (Some(span), None),
                ChangedBy::Field(span) | ChangedBy::Applier(span) => (Some(span), step.previous.as_ref()),
                ChangedBy::Variable(_) | ChangedBy::Inherited(..) => (None, step.previous.as_ref()),
            },
        };
        place = span.filter(|span| span.text().contains(invalid)).or(place);
        origin = previous;
    }
    place.unwrap_or_else(|| node.span())
}

/// The fault of an object's name, as the kind requires it.
fn fault_of_name(object: &Object, name: &str) -> Option<String> {
    if name.is_empty() {
        return None;
    }
    let says = |is_valid: bool, rule: &str| (!is_valid).then(|| format!("which is not a valid name: use {rule}"));
    match (object.group(), object.kind()) {
        (groups::RBAC, _) => says(is_path_segment(name), "no `/` and no `%`"),
        ("", "Namespace") => says(is_dns_label(name), "at most 63 lower-case letters, digits and `-`"),
        // Kubernetes 1.34 may allow a digit at the start.
        ("", "Service") => {
            says(is_dns_label(name) || is_dns_1035_label(name), "at most 63 lower-case letters, digits and `-`")
        }
        // The controller appends eleven characters to the names of Jobs.
        ("batch", "CronJob") if name.len() > 52 => says(false, "at most 52 characters"),
        // The names of these kinds have other characters.
        ("apiregistration.k8s.io" | "certificates.k8s.io" | "metrics.k8s.io", _) | ("", "Event") => None,
        _ => says(is_dns_subdomain(name), "at most 253 lower-case letters, digits, `-` and `.`"),
    }
}

pub(super) fn check_labels(entry: &Entry, path: &Path<'_>, walk: &mut Walk) {
    each_text(entry, path, walk, |key, text, walk, path, node| {
        if !is_qualified_name(key) {
            add_invalid_key("a label", path, walk);
        }
        if let Some(text) = text.filter(|text| !is_label_value(text)) {
            let message = format!("is `{}`, which is not a valid value of a label", short(text));
            let help = "use at most 63 letters, digits, `-`, `_` and `.`, and a letter or digit at both ends";
            walk.add_at(Fault::Metadata, node, path, message, Some(help.to_owned()));
        }
    });
}

fn add_invalid_key(of: &str, path: &Path<'_>, walk: &mut Walk) {
    let help = "use letters, digits, `-`, `_` and `.`, with an optional prefix as in `example.com/team`";
    walk.add(Mismatch {
        fault: Fault::Metadata,
        path: path.text(),
        at: path.key_span(),
        message: format!("is not a valid key of {of}"),
        help: Some(help.to_owned()),
        meant: None,
    });
}

fn check_annotations(entry: &Entry, path: &Path<'_>, walk: &mut Walk) {
    let mut size = 0;
    each_text(entry, path, walk, |key, text, walk, path, _| {
        size += key.len() + text.map_or(0, str::len);
        // The API server compares the lower case of an annotation's key.
        if !is_qualified_name(&key.to_ascii_lowercase()) {
            add_invalid_key("an annotation", path, walk);
        }
    });
    if size > MAX_ANNOTATIONS {
        let message = format!("has {size} bytes; the API server accepts {MAX_ANNOTATIONS}");
        walk.add(Mismatch {
            fault: Fault::Metadata,
            path: path.text(),
            at: path.key_span(),
            message,
            help: None,
            meant: None,
        });
    }
}

/// Calls `check` for each key with its text, and reports values that are no strings.
fn each_text(
    entry: &Entry,
    path: &Path<'_>,
    walk: &mut Walk,
    mut check: impl FnMut(&str, Option<&str>, &mut Walk, &Path<'_>, &Node),
) {
    let Value::Map(entries) = &entry.node.value else {
        let message = format!("is {} instead of a mapping", type_of(&entry.node));
        walk.add_at(Fault::Type, &entry.node, path, message, None);
        return;
    };
    for entry in entries.iter() {
        let path = path.entry(entry);
        if !walk.step() {
            return;
        }
        let text = match scalar(&entry.node) {
            _ if is_unknown(&entry.node) || entry.key.contains("${") => None,
            Some(Scalar::String(text)) => Some(text),
            Some(Scalar::Null) => None,
            _ => {
                let message = format!("is {} instead of a string", type_of(&entry.node));
                let help = retyped(&entry.node, crate::api::schema::Type::String);
                walk.add_at(Fault::Type, &entry.node, &path, message, help);
                None
            }
        };
        if !entry.key.contains("${") {
            check(&entry.key, text, walk, &path, &entry.node);
        }
    }
}

/// Shortens a text for a message.
pub(super) fn short(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short.replace('\n', " ")
}
