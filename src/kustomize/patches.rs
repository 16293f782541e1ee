//! `patches`, `patchesStrategicMerge` and `patchesJson6902`: reading them and laying them over objects.

use super::finish::{as_text, is_text};
use super::laid::Laid;
use super::merge::{Mismatch, merge};
use super::merge_keys::Type;
use super::resources::{History, Id, Positions, Resources};
use super::selector::Target;
use super::sops::{self, Format};
use super::user_schema::UserSchema;
use super::{FAILED_BUILD, Files, json_patch};
use crate::finding::Finding;
use crate::text::Span;
use crate::yaml::{DUPLICATE_KEY, Document, Node, Style, Value};

/// A patch as a kustomization names it.
pub(super) struct Patch {
    documents: Vec<Node>,
    target: Option<Target>,
    /// The target as it is written.
    asks: Option<Node>,
    keeps: Keeps,
    /// Whether what a JSON patch renames can still be called by its old name: not with the old field.
    remembers: bool,
    /// The place to show when it is wrong as a whole.
    span: Span,
}

/// What of the object's identity a strategic merge patch may not change.
#[derive(Clone, Copy)]
struct Keeps {
    name: bool,
    kind: bool,
}

/// What a patch may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Either of the two.
    Any,
    /// A strategic merge, as in `patchesStrategicMerge`.
    Merge,
    /// Operations on the object's JSON, as in `patchesJson6902`.
    Json,
}

/// The patches of a list; those that cannot be read become findings.
pub(super) fn read(files: &Files, folder: &str, items: &[Node], form: Form, findings: &mut Vec<Finding>) -> Vec<Patch> {
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
    let documents: Vec<Node> = documents.iter().filter(|node| !is_empty(node)).flat_map(super::expand_list).collect();
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

impl Patch {
    /// Whether nobody knows which object it is for, since it says that in what is encrypted.
    pub(super) fn is_sealed(&self) -> bool {
        let names: [&[&str]; 3] = [&["apiVersion"], &["kind"], &["metadata", "name"]];
        let is_unknown = |node: &Node| matches!(node.value, Value::Scalar(_, Style::Unknown));
        let sealed = |node: &Node| names.iter().any(|keys| node.at_keys(keys).is_some_and(is_unknown));
        self.target.is_none() && self.documents.iter().any(sealed)
    }

    /// Lays the patch over the objects it is for. `complete` says that no object can be missing because this engine
    /// did not make it; only then is a patch without object a fault.
    ///
    /// Objects that it deletes stay in the list as null until [`Resources::sweep`], so that positions stay right.
    /// Tells how many objects its target selected, where it has one and is laid at all.
    pub(super) fn apply(
        &self,
        resources: &mut Resources,
        positions: &mut Positions,
        complete: bool,
        schema: Option<&UserSchema>,
        findings: &mut Vec<Finding>,
    ) -> Option<usize> {
        if let Some(operations) = self.documents.first().filter(|document| document.is_seq()) {
            return self.apply_json(operations, resources, positions, complete, findings);
        }
        let Some(target) = &self.target else {
            for document in &self.documents {
                self.apply_by_name(document, resources, positions, (complete, schema), findings);
            }
            return None;
        };
        match self.documents.as_slice() {
            [] => None,
            [document] => {
                let selected = target.select(resources, positions);
                for position in &selected {
                    self.merge_into(document, resources, positions, (*position, schema), findings);
                }
                Some(selected.len())
            }
            [_, second, ..] => {
                let message = "a patch with a `target` holds several documents; kustomize takes one";
                findings
                    .push(Finding::error(FAILED_BUILD, second.span().clone(), message).help("make an entry of each"));
                None
            }
        }
    }

    /// What is to be noted of a patch whose target selected so many of the objects.
    pub(super) fn laid(&self, selected: usize, resources: &Resources, missed_before: usize) -> Option<Laid> {
        let (target, asks) = (self.target.as_ref()?, self.asks.as_ref()?);
        Some(match selected {
            // What takes away whatever is there is content with nothing.
            0 if self.documents.iter().all(deletes) => return None,
            0 => Laid::missed(asks, target, resources, missed_before),
            _ => Laid::found(asks),
        })
    }

    fn apply_json(
        &self,
        operations: &Node,
        resources: &mut Resources,
        positions: &mut Positions,
        complete: bool,
        findings: &mut Vec<Finding>,
    ) -> Option<usize> {
        let Some(target) = &self.target else {
            let finding = Finding::error(FAILED_BUILD, self.span.clone(), "a JSON patch has no `target`")
                .help("name the objects it is for in `target`");
            findings.push(finding);
            return None;
        };
        let fault = |(span, message)| Finding::error(FAILED_BUILD, span, message);
        let selected = target.select(resources, positions);
        if selected.is_empty() {
            // Nothing reads the operations then, so nothing finds what is wrong with them.
            return Some(0);
        }
        let operations = match json_patch::read(operations) {
            Ok(operations) => operations,
            Err(wrong) => {
                findings.push(fault(wrong));
                return None;
            }
        };
        let count = selected.len();
        for position in selected {
            let resource = &mut resources.list[position];
            if self.remembers {
                resource.remember();
            }
            match json_patch::apply(&resource.exposed(), &operations) {
                Ok(node) => {
                    // A JSON patch that takes all annotations away leaves the history.
                    resource.take(&node);
                    positions.add(position, resource);
                }
                // What it changes may be made by something that was not done.
                Err(_) if !complete => {}
                Err((span, message)) => {
                    let message = format!("the patch fails on {} `{}`: {message}", resource.id.kind, resource.id.name);
                    let place = resource.node.span().clone();
                    findings.push(fault((span, message)).related(place, "this object"));
                }
            }
        }
        Some(count)
    }

    fn apply_by_name(
        &self,
        document: &Node,
        resources: &mut Resources,
        positions: &mut Positions,
        (complete, schema): (bool, Option<&UserSchema>),
        findings: &mut Vec<Finding>,
    ) {
        let id = Id::under(document, schema);
        let name = document.at_keys(&["metadata", "name"]).unwrap_or(document);
        if id.kind.is_empty() || id.name.is_empty() {
            let finding = Finding::error(FAILED_BUILD, name.span().clone(), "a patch without `target` names no object")
                .help("give it `kind` and `metadata.name`, or a `target`");
            findings.push(finding);
            return;
        }
        let alive = |position: &usize| resources.list.get(*position).is_some_and(|one| !one.node.is_null());
        let found: Vec<usize> = positions.with_id(&id).iter().copied().filter(alive).collect();
        match *found {
            [position] => self.merge_into(document, resources, positions, (position, schema), findings),
            [] if complete => {
                let place = if &*id.namespace == "default" { String::new() } else { format!(" in `{}`", id.namespace) };
                let message = format!("this patch matches no object: there is no {} `{}`{place}", id.kind, id.name);
                let finding = Finding::error(FAILED_BUILD, name.span().clone(), message)
                    .help("correct group, version, kind, name or namespace, or remove the patch: kustomize refuses it");
                findings.push(finding);
            }
            [] => {}
            _ => {
                let message = format!("this patch matches several objects called {} `{}`", id.kind, id.name);
                findings.push(Finding::error(FAILED_BUILD, name.span().clone(), message));
            }
        }
    }

    fn merge_into(
        &self,
        patch: &Node,
        resources: &mut Resources,
        positions: &mut Positions,
        (position, schema): (usize, Option<&UserSchema>),
        findings: &mut Vec<Finding>,
    ) {
        let Some(resource) = resources.list.get_mut(position) else { return };
        if !self.keeps.name || !self.keeps.kind {
            resource.remember();
        }
        let (api_version, kind) = (resource.node.get("apiVersion").cloned(), resource.id.kind.clone());
        let type_of = Type::of_object(schema, api_version.as_ref().and_then(Node::text).unwrap_or_default(), &kind);
        match merge(&resource.exposed(), patch, type_of) {
            Ok(Some(merged)) => {
                let node = self.keep_identity(&resource.node, merged);
                if !resource.take(&node) {
                    resource.history = History::default();
                }
                positions.add(position, resource);
            }
            // Removed when the whole patch is done, so that positions stay right.
            Ok(None) => resource.node = Node::scalar("", crate::yaml::Style::Plain, resource.node.span().clone()),
            Err(Mismatch { patch, message }) => {
                let message = format!("the patch does not fit {kind} `{}`: {message}", resource.id.name);
                let place = resource.node.span().clone();
                findings
                    .push(Finding::error(FAILED_BUILD, patch.span().clone(), message).related(place, "this object"));
            }
        }
    }

    /// Puts back what of the old object's identity a patch may not change.
    fn keep_identity(&self, old: &Node, mut new: Node) -> Node {
        let fields: &[(&str, bool)] = &[("name", self.keeps.name), ("namespace", true)];
        if let (Some(before), Some(after)) = (old.entry("metadata"), new.entry("metadata")) {
            let mut metadata = after.node.clone();
            for (field, keep) in fields {
                if *keep {
                    metadata = match before.node.entry(field) {
                        Some(entry) => metadata.with(entry.clone()),
                        None => metadata.without(field),
                    };
                }
            }
            new = new.with(after.with_node(metadata));
        }
        let kept: &[(&str, bool)] = &[("apiVersion", true), ("kind", self.keeps.kind)];
        for (field, keep) in kept {
            if let Some(entry) = old.entry(field).filter(|_| *keep) {
                new = new.with(entry.clone());
            }
        }
        new
    }
}

/// Whether a strategic merge patch does nothing but take objects away.
fn deletes(document: &Node) -> bool {
    document.get("$patch").and_then(Node::text) == Some("delete")
}
