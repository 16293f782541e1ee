//! The application of a patch to the objects that it selects.

use std::cell::Cell;

use super::json_patch;
use super::merge_step::MergeError;
use super::strategic_merge::merge;
use crate::base::finding::Finding;
use crate::kustomize::file::definition::FILE_NAMES;
use crate::kustomize::objects::patch_targets::PatchTarget;
use crate::kustomize::objects::resources::{History, Resource, ResourceId, ResourceIndex, Resources};
use crate::kustomize::objects::selector::Selector;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::schema::merge_keys::SchemaType;
use crate::kustomize::schema::user_schema::UserSchema;
use crate::kustomize::text::size_limits::MAX_STEPS;
use crate::text::Span;
use crate::yaml::{Node, Style, Value};

/// A patch of a kustomization.
pub(crate) struct Patch {
    pub(crate) documents: Vec<Node>,
    pub(crate) target: Option<Selector>,
    /// The `target` as written.
    pub(crate) selector_node: Option<Node>,
    pub(crate) options: PatchOptions,
    /// Whether a JSON patch stores the previous id. A patch of `patchesJson6902` does not.
    pub(crate) keeps_previous_id: bool,
    /// The position of the patch as a whole.
    pub(crate) span: Span,
    /// The number of visited values.
    pub(crate) steps: Cell<usize>,
    /// The number of items and entries that the changes have copied.
    pub(crate) copies: Cell<usize>,
}

/// The parts of the id that a strategic merge patch may change.
#[derive(Clone, Copy)]
pub(crate) struct PatchOptions {
    pub(crate) allow_name_change: bool,
    pub(crate) allow_kind_change: bool,
}

impl Patch {
    /// Returns whether the patch selects its object by encrypted values, so that the object is unknown.
    pub(crate) fn has_encrypted_identity(&self) -> bool {
        let names: [&[&str]; 3] = [&["apiVersion"], &["kind"], &["metadata", "name"]];
        let is_unknown = |node: &Node| matches!(node.value, Value::Scalar(_, Style::Unknown));
        let is_encrypted = |node: &Node| names.iter().any(|keys| node.at_keys(keys).is_some_and(is_unknown));
        self.target.is_none() && self.documents.iter().any(is_encrypted)
    }

    /// The name that a JSON patch gives to the Namespaces that it selects.
    pub(crate) fn name_of_namespaces(&self) -> Option<&str> {
        self.target.as_ref().filter(|target| target.literal_kind() == Some("Namespace"))?;
        let operations = self.documents.first().filter(|document| document.is_seq())?.items();
        let mut named = operations.iter().filter(|one| one.get("path").and_then(Node::text) == Some("/metadata/name"));
        named.find_map(|one| one.get("value")?.text())
    }

    /// The number of values that the patch has visited since the last call.
    pub(crate) fn take_steps(&self) -> usize {
        self.steps.take().saturating_add(self.target.as_ref().map_or(0, Selector::take_steps))
    }

    /// The number of items and entries that the patch has copied since the last call.
    pub(crate) fn take_copies(&self) -> usize {
        self.copies.take()
    }

    fn count_copies(&self, before: &Node, after: &Node) {
        self.copies.set(self.copies.get().saturating_add(after.unshared(before)));
    }

    /// Applies the patch to the objects that it selects, and returns the number of objects that its target selected.
    ///
    /// A patch without an object is an error only if the build is `complete`. Deleted objects stay in the list as null
    /// until [`Resources::remove_deleted`], so that positions stay valid. The result is `None` without a target, or if
    /// the patch is not applied.
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
                let message = "a patch with a `target` has several documents, but kustomize accepts only one";
                for position in target.select(resources, positions) {
                    resources.list[position].lacks_changes = true;
                }
                findings.push(
                    Finding::error(FAILED_BUILD, second.span().clone(), message)
                        .help("use one patch for each document"),
                );
                None
            }
        }
    }

    /// The outcome of a target that selected `selected` objects; `None` if the patch needs no match.
    pub(crate) fn target_outcome(
        &self,
        selected: usize,
        is_known: bool,
        resources: &Resources,
        unmatched_before: usize,
    ) -> Option<PatchTarget> {
        let (target, selector_node) = (self.target.as_ref()?, self.selector_node.as_ref()?);
        Some(match selected {
            // A patch that only deletes or restricts objects needs no match.
            0 if self.documents.iter().all(deletes) => return None,
            0 if target.selects_all_of(&IMPERSONATING) && self.documents.iter().all(sets_account) => return None,
            // A component is built for each kustomization that includes it, and one of these builds may lack the
            // object.
            0 if !is_known => PatchTarget::matched(selector_node),
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
                .help("set `target` to select objects");
            findings.push(finding);
            resources.miss_changes();
            return None;
        };
        let finding = |(span, message)| Finding::error(FAILED_BUILD, span, message);
        let selected = target.select(resources, positions);
        if selected.is_empty() {
            // kustomize does not parse the operations without a match, so it does not report their errors.
            return Some(0);
        }
        let operations = match json_patch::read(operations) {
            Ok(operations) => operations,
            Err(error) => {
                findings.push(finding(error));
                for position in &selected {
                    resources.list[*position].lacks_changes = true;
                }
                return None;
            }
        };
        let count = selected.len();
        for position in selected {
            let resource = &mut resources.list[position];
            if self.keeps_previous_id {
                resource.store_previous_id();
            }
            match json_patch::apply(&resource.with_history_annotation(), &operations, &self.steps) {
                Ok(node) => {
                    self.count_copies(&resource.node, &node);
                    // A JSON patch that deletes all annotations keeps the history.
                    resource.set_patched(&node);
                    positions.add(position, resource);
                }
                // The accumulator reports the limit.
                Err(_) if self.steps.get() > MAX_STEPS => break,
                // An unsupported feature may create the field that the patch changes.
                Err(_) if !complete => {}
                Err((span, message)) => {
                    let message = format!(
                        "the patch cannot be applied to {} `{}`: {message}",
                        resource.id.kind, resource.id.name
                    );
                    let place = resource.node.span().clone();
                    resource.lacks_changes = true;
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
            let finding = Finding::error(
                FAILED_BUILD,
                name.span().clone(),
                "a patch without `target` does not identify an object",
            )
            .help("set `kind` and `metadata.name`, or add a `target`");
            findings.push(finding);
            resources.miss_changes();
            return;
        }
        let exists = |position: &usize| resources.list.get(*position).is_some_and(|one| !one.node.is_null());
        let found: Vec<usize> = positions.with_id(&id).iter().copied().filter(exists).collect();
        match *found {
            [position] => self.merge_into(document, resources, positions, (position, schema), findings),
            [] if complete => {
                let place = if &*id.namespace == "default" { String::new() } else { format!(" in `{}`", id.namespace) };
                let patched = format!("{} `{}`{place}", id.kind, id.name);
                findings.push(unmatched(document, name, &id, &patched, resources, positions));
                // The patch is probably meant for an object with this kind or this name.
                let is_similar = |one: &&mut Resource| one.id.kind == id.kind || one.id.name == id.name;
                resources.list.iter_mut().filter(is_similar).for_each(|one| one.lacks_changes = true);
            }
            [] => {}
            _ => {
                let message =
                    format!("this patch matches several objects of kind {} with the name `{}`", id.kind, id.name);
                findings.push(Finding::error(FAILED_BUILD, name.span().clone(), message));
                for position in &found {
                    resources.list[*position].lacks_changes = true;
                }
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
        self.steps.set(self.steps.get().saturating_add(patch.size() + resource.node.size()));
        if self.steps.get() > MAX_STEPS {
            return;
        }
        match merge(&resource.with_history_annotation(), patch, schema_type) {
            Ok(Some(merged)) => {
                let node = self.keep_identity(&resource.node, merged);
                self.count_copies(&resource.node, &node);
                if !resource.set_patched(&node) {
                    resource.history = History::default();
                }
                positions.add(position, resource);
            }
            // [`Resources::remove_deleted`] removes the object after all patches, so that positions stay valid.
            Ok(None) => resource.node = Node::scalar("", Style::Plain, resource.node.span().clone()),
            Err(MergeError { patch, message }) => {
                let message = format!("the patch cannot be merged into {kind} `{}`: {message}", resource.id.name);
                let place = resource.node.span().clone();
                resource.lacks_changes = true;
                findings
                    .push(Finding::error(FAILED_BUILD, patch.span().clone(), message).related(place, "this object"));
            }
        }
    }

    /// Restores the parts of the id that a patch must not change.
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

/// The kinds that Flux applies with the service account in `spec.serviceAccountName`.
const IMPERSONATING: [&str; 2] = ["HelmRelease", "Kustomization"];

/// Returns whether a JSON patch only sets the service account of objects, which restricts all present and later objects.
fn sets_account(operations: &Node) -> bool {
    let is_of_account =
        |operation: &Node| operation.get("path").and_then(Node::text) == Some("/spec/serviceAccountName");
    !operations.items().is_empty() && operations.items().iter().all(is_of_account)
}

/// Returns whether a strategic merge patch only deletes objects.
fn deletes(document: &Node) -> bool {
    document.get("$patch").and_then(Node::text) == Some("delete")
}

/// The finding for a patch without an object. It suggests an object that differs only in its version or namespace.
fn unmatched(
    document: &Node,
    name: &Node,
    id: &ResourceId,
    patched: &str,
    resources: &Resources,
    positions: &ResourceIndex,
) -> Finding {
    let error = |place: &Node, message| Finding::error(FAILED_BUILD, place.span().clone(), message);
    let same_name = || {
        let found = positions.with_name(&id.name).iter().filter_map(|position| resources.list.get(*position));
        found.filter(|one| !one.node.is_null() && one.id.kind == id.kind && one.id.name == id.name)
    };
    let api_version = |node: &Node| node.get("apiVersion").and_then(Node::text).unwrap_or_default().to_owned();
    if let Some(other) = same_name().find(|one| one.id.namespace == id.namespace) {
        let (theirs, ours) = (api_version(&other.node), api_version(document));
        let message = format!("this patch matches no object; {patched} has `apiVersion: {theirs}`, not `{ours}`");
        return error(document.get("apiVersion").unwrap_or(name), message)
            .related(other.node.span().clone(), "the object")
            .help(format!("set `apiVersion: {theirs}` in the patch; kustomize rejects a patch without an object"));
    }
    if let Some(other) = same_name().find(|one| one.id.version == id.version && one.id.group == id.group) {
        let message = format!("this patch matches no object; {patched} is in namespace `{}`", other.id.namespace);
        return error(name, message)
            .related(other.node.span().clone(), "the object")
            .help("correct `metadata.namespace` of the patch; kustomize rejects a patch without an object");
    }
    let finding = error(name, format!("this patch matches no object; {patched} does not exist")).help(
        "correct group, version, kind, name or namespace, or remove the patch; kustomize rejects a patch \
               without an object",
    );
    let span = name.span();
    let file = span.file().path();
    if FILE_NAMES.iter().any(|kustomization| file.rsplit('/').next() == Some(kustomization)) {
        return finding;
    }
    // The file may define new objects, and belong to the resources.
    finding.caused_by(format!("patches of {file}"), "", format!(" patches of `{file}` match no object")).help_for_all(
        format!(
            "list `{file}` below `resources` if it defines new objects, or correct the names; kustomize rejects a patch \
             without an object"
        ),
    )
}
