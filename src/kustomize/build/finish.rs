//! The final steps of a build, which run once for the topmost kustomization: hashes, references, variables, order.

use std::collections::BTreeSet;

use super::output::Build;
use crate::base::finding::Finding;
use crate::kube::Object;
use crate::kustomize::file::definition::Definition;
use crate::kustomize::file::remote_base;
use crate::kustomize::generate::hash;
use crate::kustomize::objects::resources::Resource;
use crate::kustomize::objects::{order, patch_targets};
use crate::kustomize::references::{name_references, vars};
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::{Accumulator, is_local};
use crate::kustomize::state::origin_annotations;
use crate::kustomize::text::reprint::reprint_node;
use crate::kustomize::text::string_value::{is_string, to_string_value};
use crate::yaml::{Entry, Node, Style, Value, go};

/// Finishes the build of the topmost kustomization.
pub(super) fn finish(accumulator: &Accumulator, definition: Option<&Definition>) -> Build {
    let mut resources = accumulator.resources.clone();
    let mut findings = accumulator.findings.clone();
    hash::add_to_names(&mut resources);
    name_references::update(&mut resources, &accumulator.config, &mut findings);
    vars::resolve(&mut resources, accumulator, &mut findings);
    resources.list.retain(|resource| !is_local(&resource.node));
    order::sort(&mut resources, definition, &mut findings);
    if let Some(definition) = definition.filter(|definition| origin_annotations::has_build_metadata(definition)) {
        resources.list.iter_mut().for_each(|resource| origin_annotations::write(resource, definition));
    }
    let removed_annotations = removed_annotations(definition);
    let objects: Vec<Object> = resources
        .list
        .iter()
        .map(|resource| Object { node: reprint_node(&normalize_annotations(&resource.node, &removed_annotations)) })
        .collect();
    findings.extend(objects.iter().filter_map(print_error));
    crate::base::group_findings::sort(&mut findings);
    let mut left_out = accumulator.left_out.clone();
    crate::base::group_findings::sort(&mut left_out);
    let mut charts = accumulator.charts.clone();
    crate::base::group_findings::sort(&mut charts);
    let mut patch_targets = accumulator.patch_targets.clone();
    patch_targets::deduplicate(&mut patch_targets);
    let mut remote = accumulator.remote.clone();
    remote_base::deduplicate(&mut remote);
    Build {
        objects,
        lacks_changes: positions_without_changes(&resources.list),
        findings,
        not_done: accumulator.not_done.clone(),
        left_out,
        charts,
        patch_targets,
        remote,
        unread: accumulator.unread.clone(),
        folders: accumulator.folders.clone(),
        empty: accumulator.empty.clone(),
    }
}

/// The positions of the objects that may lack changes.
pub(super) fn positions_without_changes<'a>(resources: impl IntoIterator<Item = &'a Resource>) -> BTreeSet<usize> {
    let positions = resources.into_iter().enumerate().filter(|(_, resource)| resource.lacks_changes);
    positions.map(|(at, _)| at).collect()
}

/// The error for an object that the last step of kustomize cannot print; `None` if kustomize prints the object.
fn print_error(object: &Object) -> Option<Finding> {
    let (span, why) = go::print_error(&object.node)?;
    let message = format!("kustomize cannot print this object: {why}");
    Some(Finding::error(FAILED_BUILD, span, message).about(object.reference()))
}

/// The annotations that kustomize uses during a build and removes at the end.
const BUILD_ANNOTATIONS: &[&str] = &[
    "internal.config.kubernetes.io/previousKinds",
    "internal.config.kubernetes.io/previousNames",
    "internal.config.kubernetes.io/prefixes",
    "internal.config.kubernetes.io/suffixes",
    "internal.config.kubernetes.io/previousNamespaces",
    "internal.config.kubernetes.io/allowNameChange",
    "internal.config.kubernetes.io/allowKindChange",
    "internal.config.kubernetes.io/refBy",
    "internal.config.kubernetes.io/generatorBehavior",
    "internal.config.kubernetes.io/needsHashSuffix",
    "internal.config.kubernetes.io/path",
    "internal.config.kubernetes.io/index",
    "internal.config.kubernetes.io/seqindent",
    "internal.config.kubernetes.io/id",
    "internal.config.kubernetes.io/annotations-migration-resource-id",
    "config.kubernetes.io/path",
    "config.kubernetes.io/index",
    "config.k8s.io/id",
    "internal.config.kubernetes.io/helm-generated",
];

/// The options of `buildMetadata` that keep an annotation, each with its annotation.
const METADATA: &[(&str, &str)] = &[
    ("originAnnotations", "config.kubernetes.io/origin"),
    ("transformerAnnotations", "alpha.config.kubernetes.io/transformations"),
];

/// The annotations that the build removes from all objects.
fn removed_annotations(definition: Option<&Definition>) -> Vec<&'static str> {
    let is_enabled = |option: &str| {
        let options = definition.map_or(&[][..], |definition| definition.items("buildMetadata"));
        options.iter().any(|node| node.text() == Some(option))
    };
    let metadata = METADATA.iter().filter(|(option, _)| !is_enabled(option)).map(|(_, annotation)| *annotation);
    BUILD_ANNOTATIONS.iter().copied().chain(metadata).collect()
}

/// Normalizes annotations as kustomize does: all values are strings, and an empty mapping is removed.
fn normalize_annotations(node: &Node, removed_annotations: &[&str]) -> Node {
    let Some(metadata) = node.entry("metadata") else {
        // Only a list can lack metadata. kustomize adds metadata when it looks up the annotations.
        let empty = Node { value: Value::Map([].into()), origin: node.origin.clone() };
        return node.with(Entry::new("metadata", node.origin.written(), empty));
    };
    let Some(annotations) = metadata.node.entry("annotations") else { return node.clone() };
    if !annotations.node.is_map() && !annotations.node.is_null() {
        return node.clone();
    }
    let is_kept = |entry: &&Entry| !removed_annotations.contains(&&*entry.key);
    let entries = annotations.node.entries();
    if !entries.is_empty() && entries.iter().all(|entry| is_kept(&entry) && is_normalized_annotation(&entry.node)) {
        return node.clone();
    }
    let entries: Vec<Entry> =
        entries.iter().filter(is_kept).map(|entry| entry.with_node(to_annotation(&entry.node))).collect();
    let changed = if entries.is_empty() {
        metadata.node.without("annotations")
    } else {
        let map = Node { value: Value::Map(entries.into()), origin: annotations.node.origin.clone() };
        metadata.node.with(annotations.with_node(map))
    };
    node.with(metadata.with_node(changed))
}

/// Returns whether a value equals the result of [`to_annotation`].
fn is_normalized_annotation(node: &Node) -> bool {
    is_string(node) && matches!(&node.value, Value::Scalar(text, style) if *style == style_of_annotation(text, *style))
}

/// Converts an annotation to a string, as kustomize does.
///
/// kustomize prints all annotations again: multi-line text becomes a literal block, even if it was a folded block.
fn to_annotation(node: &Node) -> Node {
    let node = to_string_value(node);
    match &node.value {
        Value::Scalar(text, style) => {
            Node { value: Value::Scalar(text.clone(), style_of_annotation(text, *style)), origin: node.origin }
        }
        Value::Seq(_) | Value::Map(_) => node,
    }
}

fn style_of_annotation(text: &str, style: Style) -> Style {
    match style {
        _ if text.contains('\n') => Style::Literal,
        Style::Folded | Style::Literal => Style::Double,
        style => style,
    }
}
