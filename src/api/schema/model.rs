//! The model of a schema. Schemas are shared: a link to a child is an `Arc`.

use std::fmt::Debug;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::compiled::CompiledRules;
use crate::base::go_regexp::{Refused, Regexp};
use crate::text::Span;

/// The structural schema of a value.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    /// The type of the value; `None` if any type is valid.
    pub value_type: Option<Type>,
    /// Whether null is valid.
    pub nullable: bool,
    /// `x-kubernetes-preserve-unknown-fields`: fields that are not declared are valid.
    pub preserves_unknown: bool,
    /// `x-kubernetes-embedded-resource`: the value is an object with `apiVersion`, `kind` and `metadata`.
    pub embedded: bool,
    /// The declared fields, sorted by name.
    pub properties: Box<[(Box<str>, Link)]>,
    /// The names of the required fields.
    pub required: Box<[Box<str>]>,
    /// The values of the fields that are not declared.
    pub additional: Additional,
    /// The schema of the items of a list.
    pub items: Option<Link>,
    /// `x-kubernetes-list-type` and `x-kubernetes-map-type`.
    pub layout: Layout,
    /// `x-kubernetes-patch-merge-key`: the key by which a strategic merge patch matches the items of a list. Only kinds of
    /// Kubernetes have one.
    pub merge_key: Option<Box<str>>,
    /// The value that the API server sets if the field is missing.
    pub default: Option<Box<serde_json::Value>>,
    /// The other constraints, which most schemas do not have.
    pub constraints: Option<Box<Constraints>>,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Type {
    /// A mapping.
    Object,
    /// A list.
    Array,
    /// A string.
    String,
    /// A number without a fraction.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// `x-kubernetes-int-or-string`: an integer or a string.
    IntOrString,
}

/// A link to the schema of a field, an item or an alternative.
#[derive(Debug, Clone)]
pub struct Link(Target);

#[derive(Debug, Clone)]
enum Target {
    Owned(Arc<Schema>),
    /// The number of a schema in a collection that decodes it on demand. Only such schemas can be recursive.
    Numbered(&'static dyn Numbered, u32),
}

/// A collection of numbered schemas.
pub trait Numbered: Debug + Sync {
    /// The schema with a number.
    fn schema(&'static self, number: u32) -> &'static Schema;
}

/// `additionalProperties`: the fields of an object that `properties` does not declare.
#[derive(Debug, Clone, Default)]
pub enum Additional {
    /// The schema does not declare other fields. Other fields are unknown unless the schema preserves them.
    #[default]
    None,
    /// Any value is valid.
    Any,
    /// The schema of each value.
    Each(Link),
}

/// The structure of a list or an object for merges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Layout {
    /// Not declared: a list is atomic, an object is granular.
    #[default]
    Default,
    /// `atomic`: replaced as a whole.
    Atomic,
    /// `granular`: an object whose fields have different owners.
    Granular,
    /// `set`: a list of unique scalars.
    Set,
    /// `map`: a list of objects with unique values of these keys.
    Map(Box<[Box<str>]>),
}

/// The constraints of a schema other than its structure.
#[derive(Debug, Clone, Default)]
pub struct Constraints {
    /// The valid values.
    pub enum_values: Box<[serde_json::Value]>,
    /// The regular expression of a string, in the syntax of Go.
    pub pattern: Option<Box<str>>,
    /// The compiled pattern.
    pub(in crate::api) compiled_pattern: OnceLock<Result<Regexp, Refused>>,
    /// The format of a string or a number, such as `date-time` or `int32`.
    pub format: Option<Box<str>>,
    /// The smallest number.
    pub minimum: Option<Bound>,
    /// The largest number.
    pub maximum: Option<Bound>,
    /// The factor of a number.
    pub multiple_of: Option<f64>,
    /// The length of a string in characters.
    pub length: Range,
    /// The number of items of a list.
    pub item_count: Range,
    /// The number of fields of an object.
    pub property_count: Range,
    /// `uniqueItems`. The API server rejects it in a CRD.
    pub unique_items: bool,
    /// `x-kubernetes-validations`: CEL rules.
    pub rules: Box<[Rule]>,
    /// The compiled rules.
    pub(in crate::api) compiled: OnceLock<Arc<CompiledRules>>,
    /// `allOf`: every schema must match.
    pub all_of: Box<[Link]>,
    /// `anyOf`: at least one schema must match.
    pub any_of: Box<[Link]>,
    /// `oneOf`: exactly one schema must match.
    pub one_of: Box<[Link]>,
    /// `not`: the schema must not match.
    pub not: Option<Link>,
}

/// A limit of a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The limit.
    pub value: f64,
    /// Whether the limit itself is not valid.
    pub exclusive: bool,
}

/// A range of lengths; both ends are valid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Range {
    /// The smallest length.
    pub min: Option<u64>,
    /// The largest length.
    pub max: Option<u64>,
}

/// A CEL rule of `x-kubernetes-validations`.
#[derive(Debug, Clone, Default)]
pub struct Rule {
    /// The expression.
    pub rule: Box<str>,
    /// The message of a violation.
    pub message: Option<Box<str>>,
    /// The expression of the message.
    pub message_expression: Option<Box<str>>,
    /// The machine-readable reason.
    pub reason: Option<Box<str>>,
    /// The path of the field that a violation points at, below the value.
    pub field_path: Option<Box<str>>,
    /// Whether `oldSelf` is optional, so that the rule also runs on creation.
    pub optional_old_self: bool,
    /// The position of the expression; `None` in a built-in schema.
    pub at: Option<Span>,
}

impl Schema {
    /// The schema of a declared field.
    #[inline]
    pub fn property(&self, name: &str) -> Option<&Schema> {
        let index = self.properties.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        self.properties.get(index).map(|(_, link)| &**link)
    }

    /// The schema of a field: its own, or the schema of additional fields.
    pub fn field(&self, name: &str) -> Option<&Schema> {
        self.property(name).or(match &self.additional {
            Additional::Each(link) => Some(link),
            Additional::None | Additional::Any => None,
        })
    }

    /// Returns whether any value is valid.
    pub fn is_any(&self) -> bool {
        self.value_type.is_none() && self.properties.is_empty() && self.constraints.is_none()
    }
}

impl Link {
    /// Creates a link to a schema.
    pub fn new(schema: Schema) -> Self {
        Self(Target::Owned(Arc::new(schema)))
    }

    /// Creates a link to a schema of a collection.
    pub fn numbered(collection: &'static dyn Numbered, number: u32) -> Self {
        Self(Target::Numbered(collection, number))
    }

    /// The number of the schema in its collection, if it has one.
    pub fn number(&self) -> Option<u32> {
        match self.0 {
            Target::Owned(_) => None,
            Target::Numbered(_, number) => Some(number),
        }
    }

    /// A key that is equal for links to the same schema.
    pub fn identity(&self) -> usize {
        std::ptr::from_ref::<Schema>(self).addr()
    }
}

impl Deref for Link {
    type Target = Schema;

    #[inline]
    fn deref(&self) -> &Schema {
        match &self.0 {
            Target::Owned(schema) => schema,
            Target::Numbered(collection, number) => collection.schema(*number),
        }
    }
}
