//! Encodings: JSON, YAML, base64 and digests.

use std::collections::BTreeMap;
use std::fmt::Write;

use data_encoding::BASE64;
use sha2::{Digest, Sha256};

use super::function::{Function, arg, error, paid, text};
use crate::flux::resourceset::template::budget::Budget;
use crate::flux::resourceset::template::convert::to_node;
use crate::flux::resourceset::template::fault::Fault;
use crate::flux::resourceset::template::functions::function::Parameter::{Any, Text};
use crate::flux::resourceset::template::go;
use crate::flux::resourceset::template::slug::slugify;
use crate::flux::resourceset::template::value::{Kind, Value};
use crate::yaml::decode_base64;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("toJson", &[Any], None, |a, budget| paid(go::json(arg(a, 0), true, None)?, budget)),
    Function::new("mustToJson", &[Any], None, |a, budget| paid(go::json(arg(a, 0), true, None)?, budget)),
    Function::new("toPrettyJson", &[Any], None, |a, budget| paid(go::json(arg(a, 0), true, Some("  "))?, budget)),
    Function::new("mustToPrettyJson", &[Any], None, |a, budget| paid(go::json(arg(a, 0), true, Some("  "))?, budget)),
    Function::new("toRawJson", &[Any], None, |a, budget| paid(go::json(arg(a, 0), false, None)?, budget)),
    Function::new("mustToRawJson", &[Any], None, |a, budget| paid(go::json(arg(a, 0), false, None)?, budget)),
    Function::new("fromJson", &[Text], None, |a, _| {
        Ok(serde_json::from_str(text(a, 0)).map_or(Value::new(Kind::Nil), |json| from_json(&json)))
    }),
    Function::new("mustFromJson", &[Text], None, |a, _| {
        serde_json::from_str(text(a, 0)).map(|json| from_json(&json)).map_err(|fault| error(fault.to_string()))
    }),
    Function::new("toYaml", &[Any], None, to_yaml),
    Function::new("mustToYaml", &[Any], None, to_yaml),
    Function::new("b64enc", &[Text], None, |a, budget| paid(BASE64.encode(text(a, 0).as_bytes()), budget)),
    Function::new("b64dec", &[Text], None, |a, budget| {
        let decoded = from_base64(text(a, 0)).and_then(|bytes| String::from_utf8(bytes).ok());
        paid(decoded.ok_or_else(|| Fault::limit(0, "base64 of binary data is not supported"))?, budget)
    }),
    Function::new("sha256sum", &[Text], None, |a, _| {
        let mut digits = String::with_capacity(64);
        for byte in Sha256::digest(text(a, 0)) {
            let _ = write!(digits, "{byte:02x}");
        }
        Ok(Value::text(digits))
    }),
    Function::new("adler32sum", &[Text], None, |a, _| Ok(Value::text(adler32(text(a, 0)).to_string()))),
    Function::new("slugify", &[Text], None, |a, _| Ok(Value::text(slugify(text(a, 0))?))),
];

fn to_yaml(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let node = to_node(arg(arguments, 0))?;
    paid(crate::yaml::go::print(&node), budget)
}

/// Converts JSON; Go's decoder converts every number to a float.
fn from_json(json: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match json {
        Json::Null => Value::new(Kind::Nil),
        Json::Bool(value) => Value::bool(*value),
        Json::Number(number) => Value::new(Kind::Float(number.as_f64().unwrap_or_default())),
        Json::String(text) => Value::text(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(from_json).collect()),
        Json::Object(entries) => {
            let entries = entries.iter().map(|(key, item)| (key.as_str().into(), from_json(item)));
            Value::map(entries.collect::<BTreeMap<_, _>>())
        }
    }
}

/// The Adler-32 checksum, from which the ids of input sets are derived.
pub(in crate::flux::resourceset) fn adler32(text: &str) -> u32 {
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in text.bytes() {
        a = (a + u32::from(byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    (b << 16) | a
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    // Go skips only line breaks.
    let is_whole = !text.contains([' ', '\t', '\x0c']);
    decode_base64(text).filter(|_| is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_and_checksums_are_the_known_ones() {
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            assert_eq!(BASE64.encode(plain.as_bytes()), coded);
            assert_eq!(from_base64(coded).as_deref(), Some(plain.as_bytes()));
        }
        assert_eq!(from_base64("Zg="), None);
        assert_eq!(adler32("Wikipedia"), 0x11E6_0398);
    }
}
