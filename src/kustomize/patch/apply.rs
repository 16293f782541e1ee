//! One patch, laid over the objects that it is for.

use super::json_patch;
use super::merge_step::MergeError;
use super::strategic_merge::merge;
use crate::base::finding::Finding;
use crate::kustomize::objects::patch_targets::PatchTarget;
use crate::kustomize::objects::resources::{History, ResourceId, ResourceIndex, Resources};
use crate::kustomize::objects::selector::Selector;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::schema::merge_keys::SchemaType;
use crate::kustomize::schema::user_schema::UserSchema;
use crate::text::Span;
use crate::yaml::{Node, Style, Value};

/// A patch as a kustomization names it.
pub(crate) struct Patch {
    pub(crate) documents: Vec<Node>,
    pub(crate) target: Option<Selector>,
    /// The target as it is written.
    pub(crate) selector_node: Option<Node>,
    pub(crate) options: PatchOptions,
    /// Whether what a JSON patch renames can still be called by its old name: not with the old field.
    pub(crate) keeps_previous_id: bool,
    /// The place to show when it is wrong as a whole.
    pub(crate) span: Span,
}

/// What of the object's identity a strategic merge patch may not change.
#[derive(Clone, Copy)]
pub(crate) struct PatchOptions {
    pub(crate) allow_name_change: bool,
    pub(crate) allow_kind_change: bool,
}

impl Patch {
    /// Whether nobody knows which object it is for, since it says that in what is encrypted.
    pub(crate) fn has_encrypted_identity(&self) -> bool {
        let names: [&[&str]; 3] = [&["apiVersion"], &["kind"], &["metadata", "name"]];
        let is_unknown = |node: &Node| matches!(node.value, Value::Scalar(_, Style::Unknown));
        let is_encrypted = |node: &Node| names.iter().any(|keys| node.at_keys(keys).is_some_and(is_unknown));
        self.target.is_none() && self.documents.iter().any(is_encrypted)
    }

    /// Lays the patch over the objects it is for. `complete` says that no object can be missing because this engine
    /// did not make it; only then is a patch without object a fault.
    ///
    /// Objects that it deletes stay in the list as null until [`Resources::sweep`], so that positions stay right.
    /// Tells how many objects its target selected, where it has one and is laid at all.
    pub(crate) fn apply(
        &self,
        resources: &mut Resources,
        positions: &mut ResourceIndex,
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
    pub(crate) fn target_outcome(
        &self,
        selected: usize,
        resources: &Resources,
        unmatched_before: usize,
    ) -> Option<PatchTarget> {
        let (target, selector_node) = (self.target.as_ref()?, self.selector_node.as_ref()?);
        Some(match selected {
            // What takes away whatever is there is content with nothing.
            0 if self.documents.iter().all(deletes) => return None,
            0 => PatchTarget::unmatched(selector_node, target, resources, unmatched_before),
            _ => PatchTarget::matched(selector_node),
        })
    }

    fn apply_json(
        &self,
        operations: &Node,
        resources: &mut Resources,
        positions: &mut ResourceIndex,
        complete: bool,
        findings: &mut Vec<Finding>,
    ) -> Option<usize> {
        let Some(target) = &self.target else {
            let finding = Finding::error(FAILED_BUILD, self.span.clone(), "a JSON patch has no `target`")
                .help("name the objects it is for in `target`");
            findings.push(finding);
            return None;
        };
        let finding = |(span, message)| Finding::error(FAILED_BUILD, span, message);
        let selected = target.select(resources, positions);
        if selected.is_empty() {
            // Nothing reads the operations then, so nothing finds what is wrong with them.
            return Some(0);
        }
        let operations = match json_patch::read(operations) {
            Ok(operations) => operations,
            Err(error) => {
                findings.push(finding(error));
                return None;
            }
        };
        let count = selected.len();
        for position in selected {
            let resource = &mut resources.list[position];
            if self.keeps_previous_id {
                resource.store_previous_id();
            }
            match json_patch::apply(&resource.with_history_annotation(), &operations) {
                Ok(node) => {
                    // A JSON patch that takes all annotations away leaves the history.
                    resource.set_patched(&node);
                    positions.add(position, resource);
                }
                // What it changes may be made by something that was not done.
                Err(_) if !complete => {}
                Err((span, message)) => {
                    let message = format!("the patch fails on {} `{}`: {message}", resource.id.kind, resource.id.name);
                    let place = resource.node.span().clone();
                    findings.push(finding((span, message)).related(place, "this object"));
                }
            }
        }
        Some(count)
    }

    fn apply_by_name(
        &self,
        document: &Node,
        resources: &mut Resources,
        positions: &mut ResourceIndex,
        (complete, schema): (bool, Option<&UserSchema>),
        findings: &mut Vec<Finding>,
    ) {
        let id = ResourceId::with_schema(document, schema);
        let name = document.at_keys(&["metadata", "name"]).unwrap_or(document);
        if id.kind.is_empty() || id.name.is_empty() {
            let finding = Finding::error(FAILED_BUILD, name.span().clone(), "a patch without `target` names no object")
                .help("give it `kind` and `metadata.name`, or a `target`");
            findings.push(finding);
            return;
        }
        let exists = |position: &usize| resources.list.get(*position).is_some_and(|one| !one.node.is_null());
        let found: Vec<usize> = positions.with_id(&id).iter().copied().filter(exists).collect();
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
        positions: &mut ResourceIndex,
        (position, schema): (usize, Option<&UserSchema>),
        findings: &mut Vec<Finding>,
    ) {
        let Some(resource) = resources.list.get_mut(position) else { return };
        if self.options.allow_name_change || self.options.allow_kind_change {
            resource.store_previous_id();
        }
        let (api_version, kind) = (resource.node.get("apiVersion").cloned(), resource.id.kind.clone());
        let schema_type =
            SchemaType::for_object(schema, api_version.as_ref().and_then(Node::text).unwrap_or_default(), &kind);
        match merge(&resource.with_history_annotation(), patch, schema_type) {
            Ok(Some(merged)) => {
                let node = self.keep_identity(&resource.node, merged);
                if !resource.set_patched(&node) {
                    resource.history = History::default();
                }
                positions.add(position, resource);
            }
            // Removed when the whole patch is done, so that positions stay right.
            Ok(None) => resource.node = Node::scalar("", Style::Plain, resource.node.span().clone()),
            Err(MergeError { patch, message }) => {
                let message = format!("the patch does not fit {kind} `{}`: {message}", resource.id.name);
                let place = resource.node.span().clone();
                findings
                    .push(Finding::error(FAILED_BUILD, patch.span().clone(), message).related(place, "this object"));
            }
        }
    }

    /// Puts back what of the old object's identity a patch may not change.
    fn keep_identity(&self, old: &Node, mut new: Node) -> Node {
        let fields: &[(&str, bool)] = &[("name", !self.options.allow_name_change), ("namespace", true)];
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
        let kept: &[(&str, bool)] = &[("apiVersion", true), ("kind", !self.options.allow_kind_change)];
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
