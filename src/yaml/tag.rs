//! What a tag makes of a scalar.

use std::borrow::Cow;

use granit_parser::Tag;

use super::resolve::resolve_plain;
use super::{Reader, Scalar, Style};

/// A scalar after its tag: a tag that says "string" quotes, one that says another type unquotes.
pub(super) struct Tagged<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) style: Style,
    /// Why the readers refuse it.
    pub(super) fault: Option<String>,
}

/// Applies a tag to a scalar that was written in a style.
pub(super) fn tagged<'a>(text: &'a str, written: Style, tag: Option<&Tag>) -> Tagged<'a> {
    let as_written = |style| Tagged { text: Cow::Borrowed(text), style, fault: None };
    let Some(tag) = tag else { return as_written(written) };
    let string = if written == Style::Plain { Style::Single } else { written };
    let Some(kind) =
        tag.core_suffix().or_else(|| tag.suffix_in_namespace("tag:yaml.org,2002:").is_some().then(|| tag.suffix()))
    else {
        return as_written(string);
    };
    let scalar = resolve_plain(text, Reader::Kubernetes);
    let fits = match kind {
        "null" => scalar == Scalar::Null,
        "bool" => matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE"),
        "int" => matches!(scalar, Scalar::Int(_)),
        "float" => matches!(scalar, Scalar::Int(_) | Scalar::Float(_)),
        "binary" => {
            return match decode_base64(text) {
                // What is no text stays encoded: no node can hold it.
                Some(bytes) => match String::from_utf8(bytes) {
                    Ok(text) => Tagged { text: Cow::Owned(text), style: string, fault: None },
                    Err(_) => as_written(string),
                },
                None => Tagged {
                    fault: Some("the value is tagged `!!binary` and is no base64".into()),
                    ..as_written(string)
                },
            };
        }
        "merge" => text == "<<",
        _ => return as_written(string),
    };
    if fits {
        return as_written(Style::Plain);
    }
    Tagged { fault: Some(format!("the value is tagged `!!{kind}` and is none")), ..as_written(string) }
}

/// The bytes that base64 stands for; `None` when it is none.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let symbols: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if !symbols.len().is_multiple_of(4) {
        return None;
    }
    let padding = symbols.iter().rev().take_while(|byte| **byte == b'=').count();
    if padding > 2 {
        return None;
    }
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for symbol in symbols.get(..symbols.len() - padding)? {
        let value = match symbol {
            b'A'..=b'Z' => symbol - b'A',
            b'a'..=b'z' => symbol - b'a' + 26,
            b'0'..=b'9' => symbol - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from((bits >> held) & 0xFF).ok()?);
        }
    }
    Some(bytes)
}
