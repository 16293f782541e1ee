//! The kinds of values.

use arcstr::ArcStr;
use core::net::IpAddr;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::trail::{Read, Trail};
use crate::cel::failure::Failure;
use crate::cel::notation::{Amount, Cidr, Duration, Semver, Timestamp, Url};
use crate::cel::types::{Merge, Type};
use crate::yaml::{Entry, Key, Node, Reader, Scalar, Style, Value as Yaml, decode_base64, plain_time};

/// A value. Clones are cheap: collections and texts are shared.
#[derive(Debug, Clone)]
pub enum Value {
    /// `null`
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A floating-point number.
    Double(f64),
    /// A text.
    String(ArcStr),
    /// Bytes.
    Bytes(Arc<[u8]>),
    /// A length of time.
    Duration(Duration),
    /// A point in time.
    Timestamp(Timestamp),
    /// A list.
    List(List),
    /// A map, or an object whose fields come from a node.
    Map(Map),
    /// An optional value.
    Optional(Option<Arc<Value>>),
    /// A type, by its name.
    Type(ArcStr),
    /// An object with computed fields, such as `variables`.
    Record(Arc<Record>),
    /// A quantity of Kubernetes.
    Quantity(Amount),
    /// A URL.
    Url(Arc<Url>),
    /// An address of a host.
    Ip(IpAddr),
    /// A network.
    Cidr(Cidr),
    /// A version.
    Semver(Arc<Semver>),
    /// A named format, such as `dns1123Label`.
    Format(&'static str),
    /// A value that the repository does not contain.
    Unknown,
}

/// A list.
#[derive(Debug, Clone)]
pub enum List {
    /// Computed items.
    Values(Arc<[Value]>, Merge),
    /// The items of a node.
    Node(Arc<Lazy>),
}

/// A map.
#[derive(Debug, Clone)]
pub enum Map {
    /// Computed entries.
    Values(Arc<BTreeMap<MapKey, Value>>),
    /// The entries of a node.
    Node(Arc<Lazy>),
}

/// The key of a map.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum MapKey {
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A text.
    String(ArcStr),
}

impl Value {
    /// The value of a variable whose content is a node. The type decides how scalars are read.
    ///
    /// Plain scalars are resolved as kustomize resolves them, since it builds every object that Flux applies.
    pub fn of_node(variable: &str, node: &Node, declared: &Type) -> Self {
        Lazy::root(variable, node, declared)
    }

    /// Converts JSON. Whole numbers are integers.
    pub fn of_json(json: &serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(*value),
            serde_json::Value::Number(number) => {
                number.as_i64().map_or_else(|| Self::Double(number.as_f64().unwrap_or(f64::NAN)), Self::Int)
            }
            serde_json::Value::String(text) => Self::text(text.as_str()),
            serde_json::Value::Array(items) => Self::list(items.iter().map(Self::of_json)),
            serde_json::Value::Object(pairs) => {
                let pair = |(key, value): (&String, _)| (MapKey::String(key.as_str().into()), Self::of_json(value));
                Self::map(pairs.iter().map(pair).collect())
            }
        }
    }

    /// Creates a text.
    pub fn text(text: impl Into<ArcStr>) -> Self {
        Self::String(text.into())
    }

    /// Creates a list.
    pub fn list(items: impl IntoIterator<Item = Self>) -> Self {
        Self::List(List::Values(items.into_iter().collect(), Merge::Whole))
    }

    /// Creates a map.
    pub fn map(pairs: BTreeMap<MapKey, Self>) -> Self {
        Self::Map(Map::Values(Arc::new(pairs)))
    }

    /// Creates an optional value.
    pub fn some(value: Self) -> Self {
        Self::Optional(Some(Arc::new(value)))
    }

    /// Returns whether the value is unknown.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// The boolean, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The text, if this is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The key that this value is in a map; `None` if it cannot be one.
    pub fn as_key(&self) -> Option<MapKey> {
        match self {
            Self::Bool(value) => Some(MapKey::Bool(*value)),
            Self::Int(value) => Some(MapKey::Int(*value)),
            Self::Uint(value) => Some(MapKey::Uint(*value)),
            Self::String(text) => Some(MapKey::String(text.clone())),
            _ => None,
        }
    }

    /// The name of the value's type, as messages of the API server write it.
    pub fn type_name(&self) -> &str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::List(_) => "list",
            Self::Map(Map::Node(lazy)) => lazy.type_name(),
            Self::Map(Map::Values(_)) => "map",
            Self::Optional(_) => "optional_type",
            Self::Type(_) => "type",
            Self::Record(record) => &record.name,
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Url(_) => "kubernetes.URL",
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Format(_) => "kubernetes.NamedFormat",
            Self::Unknown => "unknown",
        }
    }
}

impl List {
    /// The number of items.
    pub fn len(&self) -> usize {
        match self {
            Self::Values(items, _) => items.len(),
            Self::Node(lazy) => lazy.node.items().len(),
        }
    }

    /// Returns whether the list has no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at an index.
    pub fn get(&self, index: usize) -> Option<Value> {
        match self {
            Self::Values(items, _) => items.get(index).cloned(),
            Self::Node(lazy) => lazy.item(index),
        }
    }

    /// The items in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Value> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// How the list is compared and merged.
    pub(in crate::cel) fn merge(&self) -> Merge {
        match self {
            Self::Values(_, merge) => merge.clone(),
            Self::Node(lazy) => lazy.merge(),
        }
    }
}

impl Map {
    /// The number of entries.
    pub fn len(&self) -> usize {
        match self {
            Self::Values(pairs) => pairs.len(),
            Self::Node(lazy) => lazy.node.entries().len(),
        }
    }

    /// Returns whether the map has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a key.
    pub fn get(&self, key: &MapKey) -> Option<Value> {
        match (self, key) {
            (Self::Values(pairs), _) => pairs.get(key).or_else(|| pairs.get(&key.other_sign()?)).cloned(),
            (Self::Node(lazy), MapKey::String(name)) => lazy.entry(name),
            (Self::Node(_), _) => None,
        }
    }

    /// The keys and values.
    pub fn pairs(&self) -> Box<dyn Iterator<Item = (MapKey, Value)> + '_> {
        match self {
            Self::Values(pairs) => Box::new(pairs.iter().map(|(key, value)| (key.clone(), value.clone()))),
            Self::Node(lazy) => Box::new(lazy.entries()),
        }
    }
}

impl MapKey {
    /// The same number as an integer with or without a sign.
    fn other_sign(&self) -> Option<Self> {
        match self {
            Self::Int(value) => u64::try_from(*value).ok().map(Self::Uint),
            Self::Uint(value) => i64::try_from(*value).ok().map(Self::Int),
            Self::Bool(_) | Self::String(_) => None,
        }
    }

    /// The key as a value.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Bool(value) => Value::Bool(*value),
            Self::Int(value) => Value::Int(*value),
            Self::Uint(value) => Value::Uint(*value),
            Self::String(text) => Value::String(text.clone()),
        }
    }
}

/// An object with computed fields, such as the `variables` of a policy. An error of a field is the error of an expression
/// that reads it.
#[derive(Debug, Clone)]
pub struct Record {
    /// The name of the object's type.
    pub name: ArcStr,
    /// The fields.
    pub fields: Vec<Field>,
}

/// A field of a record.
#[derive(Debug, Clone)]
pub struct Field {
    /// The name of the field.
    pub name: ArcStr,
    /// The value or the reason why there is none.
    pub value: Result<Value, Failure>,
    /// The fields that the computation read. An expression that reads this field reads them too.
    pub reads: Vec<Read>,
}

impl Record {
    /// The field of a name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| &*field.name == name)
    }
}

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
fn scalar(node: &Node, text: &ArcStr, declared: &Type) -> Value {
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
            let text = dated.map_or_else(|| text.clone(), ArcStr::from);
            typed_text(text, declared)
        }
    }
}

/// The value of a text in a field of a type.
fn typed_text(text: ArcStr, declared: &Type) -> Value {
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
