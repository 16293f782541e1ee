//! Deserializers that keep the text of scalars, through serde's buffers too.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::json::scalar_to_json;
use crate::yaml::scalar::resolve::{Reader, Scalar, resolve_plain};

/// Deserializes the text of a scalar of any type: for `#[serde(deserialize_with = "…")]`.
pub fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    deserializer.deserialize_newtype_struct("Text", TextVisitor)
}

/// Deserializes any value as Kubernetes resolves it: for `#[serde(deserialize_with = "…")]`.
pub fn raw<'de, D: Deserializer<'de>>(deserializer: D) -> Result<serde_json::Value, D::Error> {
    deserializer.deserialize_newtype_struct("Raw", RawVisitor)
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, quoted or not")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<String, E> {
        Ok(value.into())
    }

    fn visit_bytes<E: de::Error>(self, value: &[u8]) -> Result<String, E> {
        Ok(String::from_utf8_lossy(value).into_owned())
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_unit<E: de::Error>(self) -> Result<String, E> {
        Ok(String::new())
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = serde_json::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<serde_json::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<serde_json::Value, E> {
        Ok(value.into())
    }

    fn visit_bytes<E: de::Error>(self, value: &[u8]) -> Result<serde_json::Value, E> {
        let text = String::from_utf8_lossy(value);
        Ok(scalar_to_json(resolve_plain(&text, Reader::Kubernetes), &text))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<serde_json::Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<serde_json::Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<serde_json::Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<serde_json::Value, E> {
        Ok(scalar_to_json(Scalar::Float(value), &value.to_string()))
    }

    fn visit_unit<E: de::Error>(self) -> Result<serde_json::Value, E> {
        Ok(serde_json::Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<serde_json::Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(RawSeed)? {
            values.push(value);
        }
        Ok(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<serde_json::Value, A::Error> {
        let mut pairs = serde_json::Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            pairs.insert(key, entries.next_value_seed(RawSeed)?);
        }
        Ok(pairs.into())
    }
}

struct RawSeed;

impl<'de> DeserializeSeed<'de> for RawSeed {
    type Value = serde_json::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<serde_json::Value, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}
