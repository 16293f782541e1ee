//! Fields that a later version of a kind replaces by another field with the same meaning.

use crate::api::validate::{Fault, Mismatch};
use crate::kube::{Object, groups};
use crate::text::Edit;
use crate::yaml::{Node, Style, Value};

/// A field with one text that becomes a list.
struct Rename {
    group: &'static str,
    kind: &'static str,
    /// The path of the mapping that contains the field.
    parent: &'static [&'static str],
    old: &'static str,
    new: &'static str,
}

/// The renamed fields. The versions that lack the old field replace versions that have both.
const RENAMES: [Rename; 2] = [
    Rename {
        group: groups::HELM,
        kind: "HelmRelease",
        parent: &["spec", "chart", "spec"],
        old: "valuesFile",
        new: "valuesFiles",
    },
    Rename { group: groups::SOURCE, kind: "HelmChart", parent: &["spec"], old: "valuesFile", new: "valuesFiles" },
];

/// The edits that rename the field of a mismatch; none if the field needs another change.
pub(super) fn rename(object: &Object, mismatch: &Mismatch) -> Option<[Edit; 2]> {
    let rename = RENAMES.iter().find(|rename| object.is(rename.group, rename.kind))?;
    let path = format!("{}.{}", rename.parent.join("."), rename.old);
    if mismatch.fault != Fault::UnknownField || mismatch.path != path {
        return None;
    }
    let parent = object.node.at_keys(rename.parent)?;
    let entry = parent.entry(rename.old).filter(|_| parent.get(rename.new).is_none())?;
    let (key, value) = (entry.key_span(), entry.node.span());
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "./_-".contains(character);
    let is_same_file = key.file().root().is_none() && value.file().root().is_none();
    (is_same_file && key.text() == rename.old && is_written(&entry.node) && value.text().chars().all(is_plain)).then(
        || {
            [
                Edit { span: key, text: rename.new.to_owned() },
                Edit { span: value.clone(), text: format!("[{}]", value.text()) },
            ]
        },
    )
}

/// Returns whether the file contains the value as it is.
fn is_written(node: &Node) -> bool {
    matches!(&node.value, Value::Scalar(text, Style::Plain) if !text.is_empty() && node.span().text() == &**text)
}
