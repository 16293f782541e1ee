//! Values of YAML nodes, which are read when an expression selects them.

use std::sync::Arc;

use super::data::{List, Map, MapKey, Value};
use super::trail::{Read, Trail};
use crate::cel::notation::{Duration, Timestamp};
use crate::cel::types::{Merge, Type};
use crate::yaml::{Entry, Key, Node, Reader, Scalar, Style, Value as Yaml, decode_base64, plain_time};

/// A collection in a node, with its declared type and its path.
#[derive(Debug, Clone)]
pub struct Lazy {
    pub(super) node: Node,
    declared: Type,
    trail: Trail,
}

impl Lazy {
    /// The value of a variable.
    pub(super) fn root(variable: &str, node: &Node, declared: &Type) -> Value {
        value(node, declared, &|| Trail::Root(variable.into()))
    }

    /// The value of an item.
    pub(super) fn item(&self, index: usize) -> Option<Value> {
        let node = self.node.items().get(index)?;
        let item = match &self.declared {
            Type::List(item, _) => item,
            _ => &Type::Dyn,
        };
        Some(value(node, item, &|| self.trail.child(Key::Index(index))))
    }

    /// The value of an entry, by its name in YAML.
    pub(super) fn entry(&self, name: &str) -> Option<Value> {
        let entry = self.node.entry(name)?;
        Some(self.value_of(entry))
    }

    fn value_of(&self, entry: &Entry) -> Value {
        let declared = match &self.declared {
            Type::Map(_, value) => Type::clone(value),
            Type::Object(fields) => fields.field(&entry.key).unwrap_or(Type::Dyn),
            _ => Type::Dyn,
        };
        value(&entry.node, &declared, &|| self.trail.child(Key::Name(entry.key.clone())))
    }

    /// The keys and values of a mapping.
    pub(super) fn entries(&self) -> impl Iterator<Item = (MapKey, Value)> + '_ {
        self.node.entries().iter().map(|entry| (MapKey::String(entry.key.clone()), self.value_of(entry)))
    }

    /// Returns whether the node is an object with declared fields.
    ///
    /// Expressions write the names of such fields with escape sequences, such as `__dot__`.
    pub(in crate::cel) fn has_declared_fields(&self) -> bool {
        matches!(self.declared, Type::Object(_))
    }

    /// The name of the type of a mapping.
    pub(super) fn type_name(&self) -> &str {
        match &self.declared {
            Type::Object(fields) => fields.name(),
            _ => "map",
        }
    }

    /// How the list is compared and merged.
    pub(super) fn merge(&self) -> Merge {
        match &self.declared {
            Type::List(_, merge) => merge.clone(),
            _ => Merge::Whole,
        }
    }

    /// The path of a child, as a field that was read.
    pub(in crate::cel) fn read(&self, key: Key, exists: bool) -> Read {
        self.trail.child(key).read(exists)
    }

    /// The path of this value.
    pub(in crate::cel) fn read_whole(&self) -> Read {
        self.trail.read(true)
    }
}

/// The value of a node with a declared type.
fn value(node: &Node, declared: &Type, trail: &dyn Fn() -> Trail) -> Value {
    let lazy = || Arc::new(Lazy { node: node.clone(), declared: declared.clone(), trail: trail() });
    match &node.value {
        Yaml::Seq(_) => Value::List(List::Node(lazy())),
        Yaml::Map(_) => Value::Map(Map::Node(lazy())),
        Yaml::Scalar(_, Style::Unknown) => Value::Unknown,
        Yaml::Scalar(text, _) => scalar(node, text, declared),
    }
}

/// The value of a scalar. A text that is invalid for its type remains a text; validation reports it elsewhere.
#[expect(clippy::cast_precision_loss, reason = "a number of a field of type number is a double")]
fn scalar(node: &Node, text: &Arc<str>, declared: &Type) -> Value {
    match node.resolve(Reader::Kustomize) {
        None | Some(Scalar::Null) => Value::Null,
        Some(Scalar::Bool(value)) => Value::Bool(value),
        Some(Scalar::Int(value)) if matches!(declared, Type::Double) => Value::Double(value as f64),
        Some(Scalar::Int(value)) => i64::try_from(value).map_or(Value::Double(value as f64), Value::Int),
        // Go prints 1e3 as 1000, which is read as an integer.
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
        Some(Scalar::Float(value))
            if value.fract() == 0.0 && value.abs() < 9e18 && !matches!(declared, Type::Double) =>
        {
            Value::Int(value as i64)
        }
        Some(Scalar::Float(value)) => Value::Double(value),
        Some(Scalar::String(_)) => {
            let is_plain = matches!(node.value, Yaml::Scalar(_, Style::Plain));
            let dated = is_plain.then(|| plain_time(text, false)).flatten();
            let text = dated.map_or_else(|| text.clone(), Arc::from);
            typed_text(text, declared)
        }
    }
}

/// The value of a text in a field of a type.
fn typed_text(text: Arc<str>, declared: &Type) -> Value {
    let typed = match declared {
        Type::Bytes => decode_base64(&text).map(|bytes| Value::Bytes(bytes.into())),
        Type::Duration => Duration::parse(&text).map(Value::Duration),
        Type::Timestamp => time(&text).map(Value::Timestamp),
        _ => None,
    };
    typed.unwrap_or(Value::String(text))
}

/// Reads a time of format `date` or `date-time`.
fn time(text: &str) -> Option<Timestamp> {
    Timestamp::parse(text).or_else(|| Timestamp::parse(&format!("{text}T00:00:00Z")))
}
