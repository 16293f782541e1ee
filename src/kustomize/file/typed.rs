//! Mappings with known fields and types, decoded as in Go.

use std::collections::BTreeMap;

use crate::base::finding::{Finding, Safety, Severity};
use crate::base::similar_names::did_you_mean;
use crate::kustomize::file::files::is_yaml;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::yaml::fix;
use crate::yaml::{Entry, Name, Node, Reader, Scalar, Style, Value, go};

/// The type of a field.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FieldType {
    Text,
    Bool,
    Int,
    List(&'static Self),
    /// A mapping with string values.
    Texts,
    /// A mapping with these fields, in kustomize's spelling.
    Fields(&'static [(&'static str, Self)]),
    /// A mapping with any content.
    Mapping,
}

/// Adds the paths of fields and nested fields. List items have the path of their list.
pub(crate) fn paths(fields: &[(&'static str, FieldType)], within: &str, paths: &mut Vec<String>) {
    for (name, field_type) in fields {
        let path = if within.is_empty() { (*name).to_owned() } else { format!("{within}.{name}") };
        let (FieldType::List(FieldType::Fields(below)) | FieldType::Fields(below)) = field_type else {
            paths.push(path);
            continue;
        };
        paths.push(path.clone());
        self::paths(below, &path, paths);
    }
}

/// A list of strings.
pub(super) const LIST_OF_TEXTS: FieldType = FieldType::List(&FieldType::Text);

/// A decoder for mappings. A value of a wrong type is removed and reported.
///
/// kustomize decodes with Go's JSON library: the case of field names does not matter, and null counts as absent.
pub(crate) struct Decoder {
    /// The errors.
    pub(crate) findings: Vec<Finding>,
    mode: DecodeMode,
}

/// The handling of unknown fields, and of numbers in string fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DecodeMode {
    /// Unknown fields and numbers in string fields are errors.
    Strict,
    /// Unknown fields are kept, and numbers become strings.
    Lenient,
    /// Unknown fields are removed, and numbers become strings.
    Rewriting,
}

impl Decoder {
    /// Creates a decoder for kustomize's own files: unknown fields are errors.
    pub(crate) fn strict() -> Self {
        Self { findings: Vec::new(), mode: DecodeMode::Strict }
    }

    /// Creates a decoder for objects that configure plugins.
    pub(crate) fn lenient() -> Self {
        Self { findings: Vec::new(), mode: DecodeMode::Lenient }
    }

    /// Creates a decoder for a kustomization that Flux writes again.
    pub(super) fn rewriting() -> Self {
        Self { findings: Vec::new(), mode: DecodeMode::Rewriting }
    }

    /// Normalizes the `known` fields of a mapping. `parent` is the name of the parent field, or empty.
    pub(crate) fn mapping(&mut self, node: &Node, known: &[(&'static str, FieldType)], parent: &str) -> Node {
        // If fields differ only in case, Go decodes the field that sorts last.
        let mut read: BTreeMap<&str, (&Name, usize)> = BTreeMap::new();
        let mut entries: Vec<Entry> = Vec::new();
        for entry in node.entries() {
            let Some((name, expected)) = known.iter().find(|(name, _)| go::is_field(&entry.key, name)) else {
                match self.mode {
                    DecodeMode::Strict => self.findings.push(unknown(entry, known, parent, REJECTED)),
                    DecodeMode::Lenient => entries.push(entry.clone()),
                    DecodeMode::Rewriting => {
                        let finding = unknown(entry, known, parent, REMOVED);
                        self.findings.push(Finding { severity: Severity::Warning, ..finding });
                    }
                }
                continue;
            };
            let Some(value) = self.typed(&entry.node, *expected, name) else { continue };
            let normalized =
                if **name == *entry.key { entry.with_node(value) } else { Entry::new(*name, &entry.key_span(), value) };
            let before = read.get(name).copied();
            if let Some((_, index)) = before.filter(|(before, _)| **before < entry.key) {
                if let Some(slot) = entries.get_mut(index) {
                    *slot = normalized;
                }
                read.insert(name, (&entry.key, index));
            } else if before.is_none() {
                read.insert(name, (&entry.key, entries.len()));
                entries.push(normalized);
            }
        }
        Node { value: Value::Map(entries.into()), origin: node.origin.clone() }
    }

    /// The value with normalized fields; `None` if the value has another type.
    fn typed(&mut self, node: &Node, expected: FieldType, name: &str) -> Option<Node> {
        let reader = if self.mode == DecodeMode::Lenient { Reader::Kustomize } else { Reader::Kubernetes };
        let scalar = node.resolve(reader);
        if scalar == Some(Scalar::Null) {
            return Some(node.clone());
        }
        match (expected, &node.value) {
            (FieldType::Text, Value::Scalar(..)) if matches!(scalar, Some(Scalar::String(_))) => {}
            (FieldType::Text, Value::Scalar(..)) if self.mode == DecodeMode::Lenient => {
                return Some(to_string_node(node));
            }
            (FieldType::Text, Value::Scalar(..)) if self.mode == DecodeMode::Rewriting => {
                return Some(match scalar {
                    Some(Scalar::Bool(value)) => string_node(node, &value.to_string()),
                    Some(Scalar::Int(value)) => string_node(node, &value.to_string()),
                    // Go prints other floats with an exponent.
                    Some(Scalar::Float(value)) if (1e-4..1e6).contains(&value.abs()) => {
                        string_node(node, &value.to_string())
                    }
                    _ => to_string_node(node),
                });
            }
            (FieldType::Bool, _) if matches!(scalar, Some(Scalar::Bool(_))) => {}
            (FieldType::Int, _) if is_integer(scalar) => {}
            (FieldType::Mapping, Value::Map(_)) => {}
            (FieldType::Fields(known), Value::Map(_)) => return Some(self.mapping(node, known, name)),
            (FieldType::List(item), Value::Seq(items)) => {
                let items: Vec<Node> = items.iter().filter_map(|node| self.typed(node, *item, name)).collect();
                return Some(Node { value: Value::Seq(items.into()), origin: node.origin.clone() });
            }
            (FieldType::Texts, Value::Map(entries)) => {
                let text =
                    |entry: &Entry| Some(entry.with_node(self.typed(&entry.node, FieldType::Text, &entry.key)?));
                let entries: Vec<Entry> = entries.iter().filter_map(text).collect();
                return Some(Node { value: Value::Map(entries.into()), origin: node.origin.clone() });
            }
            _ => {
                self.findings.push(mistyped(node, expected, name, reader));
                return None;
            }
        }
        Some(node.clone())
    }
}

/// Converts a number or a boolean to a string.
fn to_string_node(node: &Node) -> Node {
    string_node(node, go::print(node).trim_end())
}

fn string_node(node: &Node, text: &str) -> Node {
    Node { value: Value::Scalar(text.into(), Style::Double), origin: node.origin.clone() }
}

/// Returns whether Go prints a scalar as an integer, such as a float without a fraction.
fn is_integer(scalar: Option<Scalar<'_>>) -> bool {
    match scalar {
        Some(Scalar::Int(int)) => i64::try_from(int).is_ok(),
        Some(Scalar::Float(float)) => float.fract() == 0.0 && float.abs() < 1e18,
        _ => false,
    }
}

fn mistyped(node: &Node, expected: FieldType, name: &str, reader: Reader) -> Finding {
    let actual = match node.resolve(reader) {
        Some(Scalar::Null) => "null",
        Some(Scalar::Bool(_)) => "a boolean",
        Some(Scalar::Int(_) | Scalar::Float(_)) => "a number",
        Some(Scalar::String(_)) => "a string",
        None if node.is_map() => "a mapping",
        None => "a list",
    };
    let expected_name = match expected {
        FieldType::Text => "a string",
        FieldType::Bool => "`true` or `false`",
        FieldType::Int => "an integer",
        FieldType::Texts => "a mapping of strings",
        FieldType::Mapping | FieldType::Fields(_) => "a mapping",
        FieldType::List(_) => "a list",
    };
    let message = format!("`{name}` is {actual}, but kustomize expects {expected_name}");
    let help = match (expected, node.text()) {
        (FieldType::Text, Some(_)) => "quote the value".to_owned(),
        // `patches` has mappings, but the field that it replaced had paths.
        (FieldType::Fields(known), Some(text)) if is_yaml(text) && known.iter().any(|(name, _)| *name == "path") => {
            format!("set `path: {text}`")
        }
        _ => "correct the value".to_owned(),
    };
    Finding::error(FAILED_BUILD, node.span().clone(), message).help(format!("{help}; kustomize rejects the file"))
}

/// The consequence of an unknown field for kustomize.
const REJECTED: &str = "kustomize rejects the file";

/// The consequence of an unknown field in a kustomization that Flux writes again.
const REMOVED: &str = "Flux ignores the field and its value, and `kustomize build` rejects the file";

/// The finding for an unknown field.
fn unknown(entry: &Entry, known: &[(&'static str, FieldType)], parent: &str, consequence: &str) -> Finding {
    let (key, span) = (&entry.key, entry.key_span());
    let message = if parent.is_empty() {
        format!("unknown field `{key}`")
    } else {
        format!("unknown field `{key}` in `{parent}`")
    };
    let meant = did_you_mean(key, known.iter().map(|(name, _)| *name));
    let help = match meant {
        Some(meant) => format!("did you mean `{meant}`? {consequence}"),
        None => format!("remove it; {consequence}"),
    };
    let fix = meant.and_then(|meant| fix::retype(&span, key, meant, Safety::Unsafe));
    Finding::error(FAILED_BUILD, span, message).help(help).fixed_by(fix)
}
