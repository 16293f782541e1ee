//! `patches`, `patchesStrategicMerge` and `patchesJson6902`: reading them and laying them over objects.

use super::definition::Definition;
use super::inline::parse_inside;
use super::merge::{Mismatch, merge};
use super::merge_keys::Type;
use super::resources::{Id, Positions, Resources};
use super::selector::Target;
use super::{FAILED_BUILD, Files, json_patch};
use crate::finding::Finding;
use crate::text::Span;
use crate::yaml::{Document, Node};

/// A patch as a kustomization names it.
pub(super) struct Patch {
    documents: Vec<Node>,
    target: Option<Target>,
    keeps: Keeps,
    /// The place to show when it is wrong as a whole.
    span: Span,
}

/// What of the object's identity a strategic merge patch may not change.
#[derive(Clone, Copy)]
struct Keeps {
    name: bool,
    kind: bool,
}

/// The patches of a list of a kustomization; those that cannot be read become findings.
pub(super) fn read(files: &Files, definition: &Definition, field: &str, findings: &mut Vec<Finding>) -> Vec<Patch> {
    let items = definition.items(field).iter();
    items.filter_map(|item| read_one(files, definition, item, findings)).collect()
}

fn read_one(files: &Files, definition: &Definition, item: &Node, findings: &mut Vec<Finding>) -> Option<Patch> {
    // An item of `patchesStrategicMerge` is a path, or the patch itself.
    let (inline, path) = match item.text() {
        Some(text) if text.contains('\n') || text.trim_start().starts_with('{') => (Some(item), None),
        Some(_) => (None, Some(item)),
        None => {
            let said = |key: &str| item.get(key).filter(|node| node.text().is_some_and(|text| !text.trim().is_empty()));
            (said("patch"), said("path"))
        }
    };
    let documents = match (inline, path) {
        (Some(text), None) => {
            let (documents, found) = parse_inside(text);
            findings.extend(found);
            documents
        }
        (None, Some(path)) => read_file(files, definition, path, findings)?,
        (both, _) => {
            let message = if both.is_some() {
                "a patch has both `patch` and `path`"
            } else {
                "a patch has neither `patch` nor `path`"
            };
            findings.push(Finding::error(FAILED_BUILD, item.span().clone(), message).help("give one of the two"));
            return None;
        }
    };
    let target = match item.get("target").map(Target::read).transpose() {
        Ok(target) => target,
        Err(unreadable) => {
            findings.push(Finding::error(FAILED_BUILD, unreadable.node.span().clone(), unreadable.message));
            return None;
        }
    };
    let option = |key: &str| item.at_keys(&["options", key]).and_then(Node::text) == Some("true");
    let keeps = Keeps { name: !option("allowNameChange"), kind: !option("allowKindChange") };
    let span = inline.or(path).unwrap_or(item).span().clone();
    let documents = documents.into_iter().map(|document| document.node).collect();
    Some(Patch { documents, target, keeps, span })
}

fn read_file(
    files: &Files,
    definition: &Definition,
    path: &Node,
    findings: &mut Vec<Finding>,
) -> Option<Vec<Document>> {
    match files.read_named(&definition.folder, path) {
        Ok(parsed) => Some(parsed.documents.clone()),
        Err(finding) => {
            findings.push(finding);
            None
        }
    }
}

impl Patch {
    /// Lays the patch over the objects it is for. `complete` says that no object can be missing because this engine
    /// did not make it; only then is a patch without object a fault.
    ///
    /// Objects that it deletes stay in the list as null until [`Resources::sweep`], so that positions stay right.
    pub(super) fn apply(
        &self,
        resources: &mut Resources,
        positions: &mut Positions,
        complete: bool,
        findings: &mut Vec<Finding>,
    ) {
        if let Some(operations) = self.documents.first().filter(|document| document.is_seq()) {
            self.apply_json(operations, resources, positions, complete, findings);
            return;
        }
        let Some(target) = &self.target else {
            for document in &self.documents {
                self.apply_by_name(document, resources, positions, complete, findings);
            }
            return;
        };
        match self.documents.as_slice() {
            [] => {}
            [document] => {
                for position in target.select(resources, positions) {
                    self.merge_into(document, resources, positions, position, findings);
                }
            }
            [_, second, ..] => {
                let message = "a patch with a `target` holds several documents; kustomize takes one";
                findings
                    .push(Finding::error(FAILED_BUILD, second.span().clone(), message).help("make an entry of each"));
            }
        }
    }

    fn apply_json(
        &self,
        operations: &Node,
        resources: &mut Resources,
        positions: &mut Positions,
        complete: bool,
        findings: &mut Vec<Finding>,
    ) {
        let Some(target) = &self.target else {
            let finding = Finding::error(FAILED_BUILD, self.span.clone(), "a JSON patch has no `target`")
                .help("name the objects it is for in `target`");
            findings.push(finding);
            return;
        };
        let fault = |(span, message)| Finding::error(FAILED_BUILD, span, message);
        let operations = match json_patch::read(operations) {
            Ok(operations) => operations,
            Err(wrong) => {
                findings.push(fault(wrong));
                return;
            }
        };
        for position in target.select(resources, positions) {
            let resource = &mut resources.list[position];
            resource.remember();
            match json_patch::apply(&resource.node, &operations) {
                Ok(node) => {
                    resource.replace(node);
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
    }

    fn apply_by_name(
        &self,
        document: &Node,
        resources: &mut Resources,
        positions: &mut Positions,
        complete: bool,
        findings: &mut Vec<Finding>,
    ) {
        let id = Id::of(document);
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
            [position] => self.merge_into(document, resources, positions, position, findings),
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
        position: usize,
        findings: &mut Vec<Finding>,
    ) {
        let Some(resource) = resources.list.get_mut(position) else { return };
        if !self.keeps.name || !self.keeps.kind {
            resource.remember();
        }
        let (api_version, kind) = (resource.node.get("apiVersion").cloned(), resource.id.kind.clone());
        let type_of = Type::of_object(None, api_version.as_ref().and_then(Node::text).unwrap_or_default(), &kind);
        match merge(&resource.node, patch, type_of) {
            Ok(Some(merged)) => {
                let node = self.keep_identity(&resource.node, merged);
                resource.replace(node);
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
