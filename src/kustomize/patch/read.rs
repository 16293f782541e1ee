//! Reading of `patches`, `patchesStrategicMerge` and `patchesJson6902`.

use std::cell::Cell;

use super::apply::{Patch, PatchOptions};
use super::json_patch;
use crate::base::finding::{Finding, Severity};
use crate::kustomize::file::files::Files;
use crate::kustomize::file::sops::{self, Format};
use crate::kustomize::objects::selector::Selector;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::text::string_value::{is_string, to_string_value};
use crate::text::Span;
use crate::yaml::{DUPLICATE_KEY, Document, Node, Value};

/// The format of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchFormat {
    /// Both formats.
    Any,
    /// A strategic merge, as in `patchesStrategicMerge`.
    Merge,
    /// Operations of a JSON patch, as in `patchesJson6902`.
    Json,
}

/// Reads a list of patches, and reports invalid patches.
pub(crate) fn read(
    files: &Files,
    folder: &str,
    items: &[Node],
    format: PatchFormat,
    findings: &mut Vec<Finding>,
) -> Vec<Patch> {
    let patches: Vec<Patch> = items.iter().filter_map(|item| read_one(files, folder, item, format, findings)).collect();
    if format == PatchFormat::Merge
        && findings.is_empty()
        && let [first, ..] = items
        && patches.iter().all(|patch| patch.documents.is_empty())
    {
        let message = "all patches are empty; kustomize rejects them";
        findings.push(
            Finding::error(FAILED_BUILD, first.span().clone(), message).help("write a patch, or remove the field"),
        );
    }
    patches
}

/// The faults of a patch with `patch` and `target` that do not depend on the objects which it changes.
///
/// The fault of an operation is a warning: kustomize reads the operations of a patch only if it selects an object.
pub fn patch_faults(item: &Node) -> Vec<Finding> {
    let mut findings = Vec::new();
    let patches = read(&Files::default(), "", std::slice::from_ref(item), PatchFormat::Any, &mut findings);
    findings.retain(|finding| finding.severity == Severity::Error);
    for patch in patches {
        let Some(operations) = patch.documents.first().filter(|document| document.is_seq()) else { continue };
        if patch.target.is_none() {
            let message = "a JSON patch has no `target`";
            findings.push(Finding::error(FAILED_BUILD, patch.span.clone(), message).help("add `target`"));
        } else if let Err((at, message)) = json_patch::read(operations) {
            findings.push(Finding::warning(FAILED_BUILD, at, message));
        }
    }
    findings
}

fn read_one(
    files: &Files,
    folder: &str,
    item: &Node,
    format: PatchFormat,
    findings: &mut Vec<Finding>,
) -> Option<Patch> {
    // An item of `patchesStrategicMerge` is a path or an inline patch.
    let (inline, path) = match item.text() {
        Some(text) if text.contains('\n') || text.trim_start().starts_with('{') => (Some(item), None),
        Some(_) => (None, Some(item)),
        None => {
            let text_field =
                |key: &str| item.get(key).filter(|node| node.text().is_some_and(|text| !text.trim().is_empty()));
            (text_field("patch"), text_field("path"))
        }
    };
    let mut report = |span: &Span, message: &str, help: &str| {
        findings.push(Finding::error(FAILED_BUILD, span.clone(), message).help(help));
    };
    let read = match (inline, path) {
        (Some(node), None) => {
            // The applier's build has already substituted the variables of an inline patch.
            let parsed = files.parse_embedded(node);
            let text = node.text().unwrap_or_default();
            (
                parsed.documents.clone(),
                parsed.findings.clone(),
                if format == PatchFormat::Json { text } else { text.trim() }.to_string(),
            )
        }
        (None, Some(path)) => match read_file(files, folder, path) {
            Ok(read) => read,
            Err(finding) => {
                findings.push(finding);
                return None;
            }
        },
        (both, _) => {
            let message = if both.is_some() {
                "a patch has both `patch` and `path`"
            } else {
                "a patch has neither `patch` nor `path`"
            };
            report(item.span(), message, "set either `patch` or `path`");
            return None;
        }
    };
    let (documents, mut findings_of_file, text) = read;
    let duplicates: Vec<Finding> = findings_of_file.extract_if(.., |finding| finding.rule == DUPLICATE_KEY).collect();
    if text.starts_with('[') && serde_json::from_str::<serde::de::IgnoredAny>(&text).is_err() {
        let message = "a patch that starts with `[` must be JSON, but this is not valid JSON";
        report(
            inline.or(path).unwrap_or(item).span(),
            message,
            "put keys and strings in double quotes, or write a YAML list with `-`",
        );
        return None;
    }
    if !findings_of_file.is_empty() {
        findings.extend(findings_of_file);
        return None;
    }
    let span = inline.or(path).unwrap_or(item).span().clone();
    let mut documents: Vec<Node> = documents.into_iter().map(|document| document.node).collect();
    if let Some(path) = path.and_then(Node::text).filter(|_| files.decrypts && format == PatchFormat::Any)
        && Format::from_file_name(path).encrypts(&text)
    {
        documents = documents.iter().map(sops::decrypt_mapping).collect();
    }
    let is_json = documents.first().is_some_and(Node::is_seq);
    if format == PatchFormat::Json && !is_json {
        report(&span, "this patch is not a list of operations", "write a list of mappings with `op` and `path`");
        return None;
    }
    if format == PatchFormat::Merge && is_json {
        report(
            &span,
            "this patch is a list, but a strategic merge patch must be a mapping",
            "use `patches` for JSON patches",
        );
        return None;
    }
    // Go decodes operations, and uses the last value of a duplicate key.
    let documents = if is_json {
        documents
    } else {
        findings.extend(duplicates.into_iter().map(in_a_merge));
        patch_documents(&documents, findings)?
    };
    let target = item.get("target").filter(|target| !target.is_null());
    if format == PatchFormat::Json
        && target.and_then(|target| target.get("name")).and_then(Node::text).is_none_or(str::is_empty)
    {
        let message = "a patch of `patchesJson6902` requires `target.name`";
        let help = "add `target.name`, or use `patches`";
        findings.push(Finding::error(FAILED_BUILD, target.unwrap_or(item).span().clone(), message).help(help));
        return None;
    }
    finish(item, target, documents, format, span, findings)
}

/// Returns the patch with its target and its options.
fn finish(
    item: &Node,
    target: Option<&Node>,
    documents: Vec<Node>,
    format: PatchFormat,
    span: Span,
    findings: &mut Vec<Finding>,
) -> Option<Patch> {
    let selector_node = target.cloned();
    let target = match target.map(Selector::read).transpose() {
        Ok(target) => target,
        Err(error) => {
            findings.push(Finding::error(FAILED_BUILD, error.node.span().clone(), error.message));
            return None;
        }
    };
    let option = |key: &str| item.at_keys(&["options", key]).and_then(Node::text) == Some("true");
    let options =
        PatchOptions { allow_name_change: option("allowNameChange"), allow_kind_change: option("allowKindChange") };
    let is_selected = target.is_some() || format == PatchFormat::Merge;
    let documents = if is_selected { documents.iter().map(with_string_metadata).collect() } else { documents };
    Some(Patch {
        documents,
        target,
        selector_node,
        options,
        keeps_previous_id: format != PatchFormat::Json,
        span,
        steps: Cell::default(),
        copies: Cell::default(),
    })
}

/// The finding for a duplicate key in a strategic merge patch.
///
/// The merge finds the first of the keys. kustomize rejects only a mapping that it copies as a whole, because the
/// object does not have the mapping.
fn in_a_merge(finding: Finding) -> Finding {
    let help = "merge the two keys: kustomize ignores the second key if the object has this mapping, and otherwise \
                rejects the patch";
    Finding { severity: Severity::Warning, ..finding.help(help) }
}

/// The patch as kustomize copies it for selected objects.
///
/// Values of labels and annotations become strings, even nulls. Empty `labels` and `annotations` are removed.
fn with_string_metadata(patch: &Node) -> Node {
    let Some(metadata) = patch.entry("metadata").filter(|entry| entry.node.is_map()) else { return patch.clone() };
    let mut changed = metadata.node.clone();
    for field in ["labels", "annotations"] {
        let Some(entry) = changed.entry(field).cloned() else { continue };
        if entry.node.entries().is_empty() {
            changed = changed.without(field);
        } else if !entry.node.entries().iter().all(|entry| is_string(&entry.node)) {
            let entries =
                entry.node.entries().iter().map(|entry| entry.with_node(to_string_value(&entry.node))).collect();
            let map = Node { value: Value::Map(entries), origin: entry.node.origin.clone() };
            changed = changed.with(entry.with_node(map));
        }
    }
    patch.with(metadata.with_node(changed))
}

fn read_file(files: &Files, folder: &str, path: &Node) -> Result<(Vec<Document>, Vec<Finding>, String), Finding> {
    let parsed = files.read_named(folder, path)?;
    Ok((parsed.documents.clone(), parsed.findings.clone(), parsed.file.text().to_string()))
}

/// The documents of a strategic merge. Each document must identify an object, even if a target selects other objects.
fn patch_documents(documents: &[Node], findings: &mut Vec<Finding>) -> Option<Vec<Node>> {
    let is_empty = |node: &Node| node.is_null() || (node.is_map() && node.entries().is_empty());
    let documents: Vec<Node> = documents
        .iter()
        .filter(|node| !is_empty(node))
        .flat_map(crate::kustomize::file::manifests::expand_list)
        .collect();
    let text_field =
        |node: &Node, keys: &[&str]| node.at_keys(keys).and_then(Node::text).is_some_and(|text| !text.is_empty());
    let unidentified =
        documents.iter().find(|node| !text_field(node, &["kind"]) || !text_field(node, &["metadata", "name"]));
    if let Some(node) = unidentified {
        let span = node.entries().first().map_or_else(|| node.span().clone(), crate::yaml::Entry::key_span);
        let message = "this patch has no `kind` or no `metadata.name`";
        let help = "add both; kustomize requires them even if `target` selects the objects";
        findings.push(Finding::error(FAILED_BUILD, span, message).help(help));
        return None;
    }
    Some(documents)
}
