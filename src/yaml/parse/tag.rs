//! Tags of scalars.

use std::borrow::Cow;

use granit_parser::Tag;

use crate::yaml::scalar::base64::decode_base64;
use crate::yaml::scalar::resolve::{Reader, Scalar, resolve_plain};
use crate::yaml::tree::node::Style;

/// A scalar after its tag is applied: a string tag makes the scalar quoted, and a tag of another type makes it plain.
pub(super) struct TaggedScalar<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) style: Style,
    /// The reason why readers reject the scalar with its tag.
    pub(super) error: Option<String>,
}

/// Applies a tag to a scalar of a style.
pub(super) fn apply_tag<'a>(text: &'a str, written: Style, tag: Option<&Tag>) -> TaggedScalar<'a> {
    let as_written = |style| TaggedScalar { text: Cow::Borrowed(text), style, error: None };
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
                // Binary data that is not UTF-8 stays encoded, because a node contains only text.
                Some(bytes) => match String::from_utf8(bytes) {
                    Ok(text) => TaggedScalar { text: Cow::Owned(text), style: string, error: None },
                    Err(_) => as_written(string),
                },
                None => TaggedScalar {
                    error: Some("the value is tagged `!!binary`, but it is not valid base64".into()),
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
    TaggedScalar {
        error: Some(format!("the value is tagged `!!{kind}`, but it is not of this type")),
        ..as_written(string)
    }
}
