//! Types of expressions and variables.

use std::fmt;
use std::sync::Arc;

use arcstr::ArcStr;

/// The type of an expression, a variable or a field.
///
/// A type also decides how a YAML node becomes a value: a whole number in a field of type [`Type::Double`] is a double,
/// and a text in a field of type [`Type::Timestamp`] is a time.
#[derive(Debug, Clone)]
pub enum Type {
    /// Any value. The type checker accepts it everywhere.
    Dyn,
    /// The type of `null`.
    Null,
    /// A boolean.
    Bool,
    /// A signed integer of 64 bits.
    Int,
    /// An unsigned integer of 64 bits.
    Uint,
    /// A floating-point number.
    Double,
    /// A text.
    String,
    /// Bytes. In a YAML node, they are encoded in Base64.
    Bytes,
    /// A length of time.
    Duration,
    /// A point in time.
    Timestamp,
    /// A list of items of one type.
    List(Arc<Type>, Merge),
    /// A map with keys and values of one type each.
    Map(Arc<Type>, Arc<Type>),
    /// A value that may be absent.
    Optional(Arc<Type>),
    /// The type of types.
    Type,
    /// A type of the library of Kubernetes, such as `kubernetes.Quantity`.
    Opaque(&'static str),
    /// An object with declared fields.
    Object(Arc<dyn Fields>),
    /// A type parameter in the signature of a function.
    Parameter(char),
}

/// The declared fields of an object.
pub trait Fields: fmt::Debug + Send + Sync {
    /// The name of the object's type, for messages.
    fn name(&self) -> &str;

    /// The type of a field, by the name in YAML; `None` if the field is not declared.
    fn field(&self, name: &str) -> Option<Type>;
}

/// The items that two lists share, which decides whether the lists are equal and how `+` merges them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Merge {
    /// An ordinary list, or one of list type `atomic`.
    #[default]
    Whole,
    /// A list of type `set`: the order does not matter.
    Set,
    /// A list of type `map`, with the keys that identify an item.
    Map(Arc<[ArcStr]>),
}

impl Type {
    /// The type of a list.
    pub fn list(item: Self) -> Self {
        Self::List(Arc::new(item), Merge::Whole)
    }

    /// The type of a map.
    pub fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new(key), Arc::new(value))
    }

    /// The type of an optional value.
    pub fn optional(value: Self) -> Self {
        Self::Optional(Arc::new(value))
    }

    /// Returns whether the type checker accepts any value.
    pub fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn)
    }
}

/// Displays the type as messages of the API server do: `list(string)`, `map(string, dyn)`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dyn => f.write_str("dyn"),
            Self::Null => f.write_str("null"),
            Self::Bool => f.write_str("bool"),
            Self::Int => f.write_str("int"),
            Self::Uint => f.write_str("uint"),
            Self::Double => f.write_str("double"),
            Self::String => f.write_str("string"),
            Self::Bytes => f.write_str("bytes"),
            Self::Duration => f.write_str("duration"),
            Self::Timestamp => f.write_str("timestamp"),
            Self::List(item, _) => write!(f, "list({item})"),
            Self::Map(key, value) => write!(f, "map({key}, {value})"),
            Self::Optional(value) => write!(f, "optional_type({value})"),
            Self::Type => f.write_str("type"),
            Self::Opaque(name) => f.write_str(name),
            Self::Object(fields) => f.write_str(fields.name()),
            Self::Parameter(name) => write!(f, "{name}"),
        }
    }
}
