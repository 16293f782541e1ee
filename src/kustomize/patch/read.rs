//! Reading `patches`, `patchesStrategicMerge` and `patchesJson6902`.

use super::apply::{Keeps, Patch};
use crate::base::finding::Finding;
use crate::kustomize::file::files::Files;
use crate::kustomize::file::sops::{self, Format};
use crate::kustomize::objects::selector::Target;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::text::string_value::{as_text, is_text};
use crate::text::Span;
use crate::yaml::{DUPLICATE_KEY, Document, Node, Value};

/// What a patch may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Either of the two.
    Any,
    /// A strategic merge, as in `patchesStrategicMerge`.
    Merge,
    /// Operations on the object's JSON, as in `patchesJson6902`.
    Json,
}

/// The patches of a list; those that cannot be read become findings.
pub(crate) fn read(files: &Files, folder: &str, items: &[Node], form: Form, findings: &mut Vec<Finding>) -> Vec<Patch> {
    let patches: Vec<Patch> = items.iter().filter_map(|item| read_one(files, folder, item, form, findings)).collect();
    if form == Form::Merge
        && findings.is_empty()
        && let [first, ..] = items
        && patches.iter().all(|patch| patch.documents.is_empty())
    {
        let message = "these patches are empty, and kustomize refuses that";
        findings.push(Finding::error(FAILED_BUILD, first.span().clone(), message).help("write a patch or remove them"));
    }
    patches
}

fn read_one(files: &Files, folder: &str, item: &Node, form: Form, findings: &mut Vec<Finding>) -> Option<Patch> {
    // An item of `patchesStrategicMerge` is a path, or the patch itself.
    let (inline, path) = match item.text() {
        Some(text) if text.contains('\n') || text.trim_start().starts_with('{') => (Some(item), None),
        Some(_) => (None, Some(item)),
        None => {
            let said = |key: &str| item.get(key).filter(|node| node.text().is_some_and(|text| !text.trim().is_empty()));
            (said("patch"), said("path"))
        }
    };
    let mut wrong = |at: &Span, message: &str, help: &str| {
        findings.push(Finding::error(FAILED_BUILD, at.clone(), message).help(help));
    };
    let read = match (inline, path) {
        (Some(node), None) => {
            // What a variable made by now, the one that brings the applier has substituted.
            let parsed = files.inside(node);
            let text = node.text().unwrap_or_default();
            (
                parsed.documents.clone(),
                parsed.findings.clone(),
                if form == Form::Json { text } else { text.trim() }.to_string(),
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
            wrong(item.span(), message, "give one of the two");
            return None;
        }
    };
    let (documents, mut faults, text) = read;
    if documents.first().is_some_and(|document| document.node.is_seq()) {
        // Go decodes operations, and takes the last of keys that stand twice.
        faults.retain(|fault| fault.rule != DUPLICATE_KEY);
    }
    if text.starts_with('[') && serde_json::from_str::<serde::de::IgnoredAny>(&text).is_err() {
        let message = "a patch that begins with `[` is read as JSON, and this is none";
        wrong(
            inline.or(path).unwrap_or(item).span(),
            message,
            "put keys and texts into double quotes, or write a list with `-`",
        );
        return None;
    }
    if !faults.is_empty() {
        findings.extend(faults);
        return None;
    }
    let span = inline.or(path).unwrap_or(item).span().clone();
    let mut documents: Vec<Node> = documents.into_iter().map(|document| document.node).collect();
    if let Some(path) = path.and_then(Node::text).filter(|_| files.decrypts && form == Form::Any)
        && Format::of(path).encrypts(&text)
    {
        documents = documents.iter().map(sops::opaque).collect();
    }
    let is_json = documents.first().is_some_and(Node::is_seq);
    if form == Form::Json && !is_json {
        wrong(&span, "this patch holds no operations", "write a list of mappings with `op` and `path`");
        return None;
    }
    if form == Form::Merge && is_json {
        wrong(&span, "this patch is a list, and not a part of an object", "use `patches` for operations");
        return None;
    }
    let documents = if is_json { documents } else { objects(&documents, findings)? };
    let target = item.get("target").filter(|target| !target.is_null());
    if form == Form::Json && target.and_then(|target| target.get("name")).and_then(Node::text).is_none_or(str::is_empty)
    {
        let message = "a patch of `patchesJson6902` needs the `name` of its target";
        let help = "add `target.name`, or use `patches`";
        findings.push(Finding::error(FAILED_BUILD, target.unwrap_or(item).span().clone(), message).help(help));
        return None;
    }
    let asks = target.cloned();
    let target = match target.map(Target::read).transpose() {
        Ok(target) => target,
        Err(unreadable) => {
            findings.push(Finding::error(FAILED_BUILD, unreadable.node.span().clone(), unreadable.message));
            return None;
        }
    };
    let option = |key: &str| item.at_keys(&["options", key]).and_then(Node::text) == Some("true");
    let keeps = Keeps { name: !option("allowNameChange"), kind: !option("allowKindChange") };
    let is_selected = target.is_some() || form == Form::Merge;
    let documents = if is_selected { documents.iter().map(as_texts).collect() } else { documents };
    Some(Patch { documents, target, asks, keeps, remembers: form != Form::Json, span })
}

/// The patch as kustomize copies it for objects that it selects: labels and annotations are texts, a null is the text of
/// it, and no mapping of them is none.
fn as_texts(patch: &Node) -> Node {
    let Some(metadata) = patch.entry("metadata").filter(|entry| entry.node.is_map()) else { return patch.clone() };
    let mut changed = metadata.node.clone();
    for field in ["labels", "annotations"] {
        let Some(entry) = changed.entry(field).cloned() else { continue };
        if entry.node.entries().is_empty() {
            changed = changed.without(field);
        } else if !entry.node.entries().iter().all(|entry| is_text(&entry.node)) {
            let entries = entry.node.entries().iter().map(|entry| entry.with_node(as_text(&entry.node))).collect();
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

/// The documents of a strategic merge: each is a part of an object that it names, even where a target selects others.
fn objects(documents: &[Node], findings: &mut Vec<Finding>) -> Option<Vec<Node>> {
    let is_empty = |node: &Node| node.is_null() || (node.is_map() && node.entries().is_empty());
    let documents: Vec<Node> = documents
        .iter()
        .filter(|node| !is_empty(node))
        .flat_map(crate::kustomize::file::manifests::expand_list)
        .collect();
    let said =
        |node: &Node, keys: &[&str]| node.at_keys(keys).and_then(Node::text).is_some_and(|text| !text.is_empty());
    let nameless = documents.iter().find(|node| !said(node, &["kind"]) || !said(node, &["metadata", "name"]));
    if let Some(node) = nameless {
        let at = node.entries().first().map_or_else(|| node.span().clone(), crate::yaml::Entry::key_span);
        let message = "this patch names no object: it has no `kind` and `metadata.name`";
        let help = "add them: kustomize wants them even where `target` says which objects it is for";
        findings.push(Finding::error(FAILED_BUILD, at, message).help(help));
        return None;
    }
    Some(documents)
}
