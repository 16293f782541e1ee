//! The deserialization of nodes to Rust types, with serde.
//!
//! Serde buffers the values of a struct with a flattened field before it reads their types. A plain scalar with an
//! unambiguous value is buffered as that value. Any other scalar is buffered as the bytes of its text, from which
//! [`text`](crate::yaml::text) and [`raw`](crate::yaml::raw) still read the text.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

use crate::text::Span;
use crate::yaml::scalar::resolve::{Reader, Scalar, resolve_plain};
use crate::yaml::tree::node::{Entry, Node, Style, Value};

/// The reason why a node does not fit a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DecodeError {
    /// The position of the mismatch.
    pub span: Span,
    /// The description of the mismatch.
    pub message: String,
}

/// Decodes a node.
///
/// A null decodes to an absent field, or to an empty collection if the type is a collection. A newtype struct named
/// `Text` receives the text of a scalar, quoted or not. A newtype struct named `Raw` resolves all scalars below it as
/// [`Reader::Kubernetes`]. In a flattened struct, serde drops these names; use `deserialize_with` there, with
/// [`text`](crate::yaml::text) or [`raw`](crate::yaml::raw).
pub fn decode<T: DeserializeOwned>(node: &Node, reader: Reader) -> Result<T, DecodeError> {
    T::deserialize(Decoder { node, reader }).map_err(|error| DecodeError {
        span: error.span.unwrap_or_else(|| node.span().clone()),
        message: error.message,
    })
}

/// An error whose position is set by the innermost node under deserialization.
#[derive(Debug)]
struct Error {
    span: Option<Span>,
    message: String,
}

impl Error {
    fn within(mut self, span: impl FnOnce() -> Span) -> Self {
        self.span.get_or_insert_with(span);
        self
    }
}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { span: None, message: message.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

#[derive(Clone, Copy)]
struct Decoder<'a> {
    node: &'a Node,
    reader: Reader,
}

impl<'a> Decoder<'a> {
    fn seed<'de, T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self).map_err(|error| error.within(|| self.node.span().clone()))
    }

    fn entries(self) -> Entries<'a> {
        Entries { rest: self.node.entries().iter(), value: None, reader: self.reader, skip_nulls: false }
    }

    fn fields(self) -> Entries<'a> {
        Entries { skip_nulls: true, ..self.entries() }
    }
}

fn visit_scalar<'de, V: Visitor<'de>>(scalar: Scalar<'_>, visitor: V) -> Result<V::Value, Error> {
    match scalar {
        Scalar::Null => visitor.visit_unit(),
        Scalar::Bool(value) => visitor.visit_bool(value),
        Scalar::Int(value) => match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) => visitor.visit_i64(value),
            (_, Ok(value)) => visitor.visit_u64(value),
            _ => visitor.visit_i128(value),
        },
        Scalar::Float(value) => visitor.visit_f64(value),
        Scalar::String(text) => visitor.visit_str(text),
    }
}

/// Returns whether serde buffers a value to deserialize it later, when its type is known.
fn is_serde_buffer<V>() -> bool {
    std::any::type_name::<V>().contains("::ContentVisitor")
}

/// Returns whether all readers resolve the text to one value, whose printed form is the text.
fn is_unambiguous(text: &str) -> bool {
    let scalar = resolve_plain(text, Reader::Core);
    let (Scalar::Bool(_) | Scalar::Int(_) | Scalar::Float(_)) = scalar else {
        return scalar == resolve_plain(text, Reader::Kubernetes);
    };
    let printed = match scalar {
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) => value.to_string(),
        Scalar::Null | Scalar::String(_) => return true,
    };
    printed == text
}

struct Expecting<'a, V>(&'a V);

impl<'de, V: Visitor<'de>> fmt::Display for Expecting<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }
}

macro_rules! as_any {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.deserialize_any(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Decoder<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.node.value {
            Value::Map(_) => visitor.visit_map(self.entries()),
            Value::Seq(items) => visitor.visit_seq(Items { rest: items.iter(), reader: self.reader }),
            Value::Scalar(text, Style::Plain) if is_serde_buffer::<V>() && !is_unambiguous(text) => {
                visitor.visit_bytes(text.as_bytes())
            }
            Value::Scalar(text, Style::Plain) => visit_scalar(resolve_plain(text, self.reader), visitor),
            Value::Scalar(text, _) => visitor.visit_str(text),
        }
    }

    as_any! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
        deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf deserialize_unit
        deserialize_identifier
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.node.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        match (name, &self.node.value) {
            ("Text", Value::Scalar(text, _)) => visitor.visit_newtype_struct(TextDecoder(text)),
            ("Raw", _) => visitor.visit_newtype_struct(Self { reader: Reader::Kubernetes, ..self }),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.node.is_null() {
            return visitor.visit_seq(Items { rest: [].iter(), reader: self.reader });
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if !self.node.is_map() && !self.node.is_null() {
            return self.deserialize_any(visitor);
        }
        // Serde deserializes a struct with a flattened field as a map.
        if Expecting(&visitor).to_string().starts_with("struct ") {
            return visitor.visit_map(self.fields());
        }
        visitor.visit_map(self.entries())
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if !self.node.is_map() && !self.node.is_null() {
            return self.deserialize_any(visitor);
        }
        visitor.visit_map(self.fields())
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match (&self.node.value, self.node.entries()) {
            (Value::Scalar(text, _), _) => visitor.visit_enum(StrDeserializer::<Error>::new(text)),
            (_, [entry]) => visitor.visit_enum(Variant { entry, reader: self.reader }),
            _ => Err(de::Error::custom("expected a string, or a mapping with one key")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }
}

struct Items<'a> {
    rest: std::slice::Iter<'a, Node>,
    reader: Reader,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.rest.next().map(|node| Decoder { node, reader: self.reader }.seed(seed)).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

struct Entries<'a> {
    rest: std::slice::Iter<'a, Entry>,
    value: Option<&'a Node>,
    reader: Reader,
    skip_nulls: bool,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let skip_nulls = self.skip_nulls;
        let Some(entry) = self.rest.find(|entry| !(skip_nulls && entry.node.is_null())) else { return Ok(None) };
        self.value = Some(&entry.node);
        let key = seed.deserialize(TextDecoder(&entry.key));
        key.map(Some).map_err(|error| error.within(|| entry.key_span()))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let node = self.value.take().ok_or_else(|| de::Error::custom("the value was requested before its key"))?;
        Decoder { node, reader: self.reader }.seed(seed)
    }
}

struct Variant<'a> {
    entry: &'a Entry,
    reader: Reader,
}

impl<'de, 'a> EnumAccess<'de> for Variant<'a> {
    type Error = Error;
    type Variant = Decoder<'a>;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Decoder<'a>), Error> {
        let name = seed.deserialize(TextDecoder(&self.entry.key));
        let name = name.map_err(|error| error.within(|| self.entry.key_span()))?;
        Ok((name, Decoder { node: &self.entry.node, reader: self.reader }))
    }
}

impl<'de> VariantAccess<'de> for Decoder<'_> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        if self.node.is_null() { Ok(()) } else { Err(de::Error::custom("expected no value")) }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        self.seed(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        self.deserialize_struct("", &[], visitor)
    }
}

/// A text that deserializes as a string for every type.
struct TextDecoder<'a>(&'a str);

impl<'de> Deserializer<'de> for TextDecoder<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(IntoDeserializer::<Error>::into_deserializer(self.0))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;
    use crate::text::File;
    use crate::yaml::{parse, raw, text};

    #[derive(Debug, Default, PartialEq, Deserialize)]
    struct Text(#[serde(deserialize_with = "text")] String);

    #[derive(Debug, Default, PartialEq, Deserialize)]
    struct Raw(#[serde(deserialize_with = "raw")] serde_json::Value);

    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
    struct Name(String);

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "camelCase")]
    enum Kind {
        Small,
        Of(u32),
        With { size: u8 },
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Settings {
        version: Option<Text>,
        labels: BTreeMap<String, Text>,
        object: Option<Raw>,
        kinds: Vec<Kind>,
        count: u32,
        wait: bool,
        plain: Option<String>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Cluster {
        name: Name,
        #[serde(flatten)]
        settings: Settings,
    }

    fn read<T: DeserializeOwned>(text: &str) -> Result<T, DecodeError> {
        let node = parse(&File::new("a.yaml", text)).documents.remove(0).node;
        decode(&node, Reader::Core)
    }

    const SETTINGS: &str = "name: a\nversion: 1.10\nlabels: {a: 0775, b: yes, c: '1', d: true, e: 1.0, f: }\n\
        object: {mode: 0775, on: yes, is: 'yes', f: 1.50, n: null}\nkinds: [small, of: 3, with: {size: 1}]\n\
        count: 12\nwait: true\nplain: yes\n";

    #[test]
    fn text_and_raw_values_keep_their_text_flattened_or_not() {
        let settings: Settings = read(SETTINGS).unwrap();
        let text = |text: &str| Text(text.into());
        assert_eq!(settings.version, Some(text("1.10")));
        let labels = [("a", "0775"), ("b", "yes"), ("c", "1"), ("d", "true"), ("e", "1.0"), ("f", "")];
        assert_eq!(settings.labels, labels.map(|(key, value)| (key.to_string(), text(value))).into());
        let object = serde_json::json!({"mode": 509, "on": true, "is": "yes", "f": 1.5, "n": null});
        assert_eq!(settings.object, Some(Raw(object)));
        assert_eq!(settings.kinds, [Kind::Small, Kind::Of(3), Kind::With { size: 1 }]);
        assert_eq!(settings.plain.as_deref(), Some("yes"));
        let cluster: Cluster = read(SETTINGS).unwrap();
        assert_eq!(cluster, Cluster { name: Name("a".into()), settings });
    }

    #[test]
    fn a_null_is_an_absent_field_and_an_empty_collection() {
        let cluster: Cluster = read("name: a\ncount:\nlabels: ~\nwait: null\n").unwrap();
        assert_eq!(cluster.settings, Settings::default());
        let environments: BTreeMap<Name, Settings> = read("staging:\nproduction: {}\n").unwrap();
        assert_eq!(environments.len(), 2);
        let lists: BTreeMap<Name, Vec<u8>> = read("a:\n").unwrap();
        assert_eq!(lists.get(&Name("a".into())), Some(&Vec::new()));
    }

    #[test]
    fn an_error_has_the_position_of_the_innermost_node() {
        let error = read::<Settings>("labels:\n  a: x\ncount: many\n").unwrap_err();
        assert_eq!(error.span.text(), "many");
        assert_eq!(error.message, "invalid type: string \"many\", expected u32");
        let error = read::<Settings>("kinds: [small, huge]\n").unwrap_err();
        assert_eq!(error.span.text(), "huge");
    }
}
