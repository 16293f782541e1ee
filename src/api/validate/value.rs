//! Values as the API server receives them from kustomize.

use memchr::memchr;

use crate::api::schema::Type;
use crate::kube::is_encrypted_value;
use crate::yaml::{ChangedBy, Node, Origin, Reader, Scalar, Style, Value};

/// Returns whether a value is not known before the build on a cluster. It satisfies every schema.
pub(super) fn is_unknown(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(_, Style::Unknown) => true,
        Value::Scalar(text, _) => contains_variable(text) || is_encrypted_value(text),
        Value::Seq(_) | Value::Map(_) => false,
    }
}

/// Returns whether a text may contain a variable of Flux.
fn contains_variable(text: &str) -> bool {
    memchr(b'$', text.as_bytes()).is_some() && text.contains("${")
}

/// The value of a scalar; `None` for a collection.
pub(super) fn scalar(node: &Node) -> Option<Scalar<'_>> {
    node.resolve(Reader::Kustomize)
}

/// Returns whether a value is null.
pub(super) fn is_null(node: &Node) -> bool {
    matches!(scalar(node), Some(Scalar::Null))
}

/// Returns whether a value has a type. `true` for unknown values.
pub(super) fn has_type(node: &Node, expected: Type) -> bool {
    if is_unknown(node) {
        return true;
    }
    match (expected, &node.value, scalar(node)) {
        (Type::Object, Value::Map(_), _)
        | (Type::Array, Value::Seq(_), _)
        | (Type::String | Type::IntOrString, _, Some(Scalar::String(_)))
        | (Type::Integer | Type::IntOrString | Type::Number, _, Some(Scalar::Int(_)))
        | (Type::Boolean, _, Some(Scalar::Bool(_))) => true,
        (Type::Number, _, Some(Scalar::Float(number))) => number.is_finite(),
        // JSON has one type of numbers, so `1.0` is an integer.
        (Type::Integer | Type::IntOrString, _, Some(Scalar::Float(number))) => {
            number.is_finite() && number.fract() == 0.0
        }
        _ => false,
    }
}

/// Names the type of a value, with an article.
pub(super) fn type_of(node: &Node) -> &'static str {
    match (&node.value, scalar(node)) {
        (Value::Map(_), _) => "a mapping",
        (Value::Seq(_), _) => "a list",
        (_, Some(Scalar::Null)) => "null",
        (_, Some(Scalar::Bool(_))) => "a boolean",
        (_, Some(Scalar::Int(_) | Scalar::Float(_))) => "a number",
        (_, Some(Scalar::String(_)) | None) => "a string",
    }
}

/// Names a type, with an article.
pub(super) fn type_name(expected: Type) -> &'static str {
    match expected {
        Type::Object => "a mapping",
        Type::Array => "a list",
        Type::String => "a string",
        Type::Integer => "an integer",
        Type::Number => "a number",
        Type::Boolean => "a boolean",
        Type::IntOrString => "an integer or a string",
    }
}

/// The variable of Flux whose value is the whole text of a scalar.
fn variable_of<'a>(node: &'a Node, text: &str) -> Option<&'a str> {
    let Origin::Via(step) = &node.origin else { return None };
    match (&step.by, &*step.pieces) {
        (ChangedBy::Variable(name), [(range, _)]) if range.start == 0 && range.end as usize == text.len() => Some(name),
        _ => None,
    }
}

/// Suggests a value of a variable that has another type.
fn retyped_by_variable(variable: &str, text: &str, expected: Type) -> Option<String> {
    match expected {
        Type::String => Some(format!(
            "put quotes into the value of `{variable}`: `'\"{text}\"'`; Flux drops quotes around a variable"
        )),
        Type::Boolean | Type::Integer | Type::Number => {
            Some(format!("the value of `{variable}` must be {}", type_name(expected)))
        }
        _ => None,
    }
}

/// Suggests how to write a scalar with another type.
pub(super) fn retyped(node: &Node, expected: Type) -> Option<String> {
    let Value::Scalar(text, style) = &node.value else {
        return matches!(expected, Type::Array).then(|| "write it as a list: `- …`".to_owned());
    };
    if text.chars().count() > 60 || text.contains(['\n', '"', '\'']) {
        return None;
    }
    if let Some(variable) = variable_of(node, text) {
        return retyped_by_variable(variable, text, expected);
    }
    match expected {
        Type::String => Some(format!("quote it: `\"{text}\"`")),
        Type::Boolean if matches!(&**text, "yes" | "on" | "True" | "TRUE" | "true") => Some("write `true`".to_owned()),
        Type::Boolean if matches!(&**text, "no" | "off" | "False" | "FALSE" | "false") => {
            Some("write `false`".to_owned())
        }
        Type::Integer | Type::Number if *style != Style::Plain && text.parse::<f64>().is_ok() => {
            Some(format!("write it without quotes: `{text}`"))
        }
        Type::Array => Some(format!("write it as a list: `[{text}]`")),
        _ => None,
    }
}
