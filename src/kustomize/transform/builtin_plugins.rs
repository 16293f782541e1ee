//! Built-in transformers that objects configure.

use super::names::{self, Affix};
use super::namespace::{self, Subjects};
use super::{annotations, images, labels, replacements, replicas, sequence, value_add};
use crate::base::finding::Finding;
use crate::kube::Object;
use crate::kustomize::fieldspec::field_spec::FieldSpec;
use crate::kustomize::fieldspec::read_config::read_plugin_spec;
use crate::kustomize::file::files::Files;
use crate::kustomize::generate::hash;
use crate::kustomize::patch::read;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::Accumulator;
use crate::yaml::{Entry, List, Node, Style, Value};

/// A mapping of fields of a plugin object, with the names of the kustomization's fields.
fn patch_entry(plugin: &Object, fields: &[(&str, &str)]) -> Node {
    let entry = |(from, to): &(&str, &str)| {
        let entry = plugin.node.entry(from)?;
        Some(Entry::new(*to, &entry.key_span(), entry.node.clone()))
    };
    let entries: List<Entry> = fields.iter().filter_map(entry).collect();
    Node { value: Value::Map(entries), origin: plugin.node.origin.clone() }
}

/// Runs the transformer that an object configures.
pub(crate) fn run(files: &Files, folder: &str, plugin: &Object, accumulator: &mut Accumulator) {
    let mut findings = Vec::new();
    let field = |name: &str| plugin.node.get(name).filter(|node| !node.is_null());
    let entries = |name: &str| field(name).map_or(&[][..], Node::entries);
    let items = |name: &str| field(name).map_or(&[][..], Node::items);
    let specs: Vec<FieldSpec> =
        items("fieldSpecs").iter().filter_map(|item| read_plugin_spec(item, &mut findings)).collect();
    for finding in findings {
        accumulator.fail(finding);
    }
    let list_of = |name: &str| field(name).cloned().into_iter().collect::<Vec<Node>>();
    match plugin.kind() {
        "AnnotationsTransformer" => {
            let pairs = entries("annotations");
            if accumulator.take_fields(&specs, pairs.len(), plugin.span()) {
                annotations::apply(pairs, &specs, accumulator);
            }
        }
        "HashTransformer" => hash::add_to_names(&mut accumulator.resources),
        "ImageTagTransformer" => images::apply(&list_of("imageTag"), &specs, accumulator),
        "LabelTransformer" => {
            labels::LabelSet::new(entries("labels").to_vec(), specs, plugin.span().clone()).apply(accumulator);
        }
        "NamespaceTransformer" => set_namespace(plugin, &specs, accumulator),
        "PatchTransformer" => {
            let fields = [("path", "path"), ("patch", "patch"), ("target", "target"), ("options", "options")];
            sequence::apply_patches(
                files,
                folder,
                &[patch_entry(plugin, &fields)],
                read::PatchFormat::Any,
                accumulator,
            );
        }
        "PatchStrategicMergeTransformer" => {
            let inline = field("patches").map(|_| patch_entry(plugin, &[("patches", "patch")]));
            let all: Vec<Node> = items("paths").iter().cloned().chain(inline).collect();
            if all.is_empty() {
                accumulator.fail(missing_field(plugin, "`paths` or `patches`"));
            }
            sequence::apply_patches(files, folder, &all, read::PatchFormat::Merge, accumulator);
        }
        "PatchJson6902Transformer" => {
            let entry = patch_entry(plugin, &[("path", "path"), ("jsonOp", "patch"), ("target", "target")]);
            sequence::apply_patches(files, folder, &[entry], read::PatchFormat::Json, accumulator);
        }
        "PrefixTransformer" => add_affix(plugin, &[("prefix", Affix::Prefix)], &specs, accumulator),
        "SuffixTransformer" => add_affix(plugin, &[("suffix", Affix::Suffix)], &specs, accumulator),
        "PrefixSuffixTransformer" => {
            add_affix(plugin, &[("prefix", Affix::Prefix), ("suffix", Affix::Suffix)], &specs, accumulator);
        }
        "ReplacementTransformer" => replacements::apply(files, folder, items("replacements"), accumulator),
        "ReplicaCountTransformer" => replicas::apply(&list_of("replica"), &specs, accumulator),
        "ValueAddTransformer" => value_add::apply(files, folder, &plugin.node, accumulator),
        _ => unreachable!("the caller runs known kinds only"),
    }
}

fn missing_field(plugin: &Object, what: &str) -> Finding {
    let message = format!("{} `{}` has no {what}", plugin.kind(), plugin.name());
    Finding::error(FAILED_BUILD, plugin.span().clone(), message)
        .help(format!("add {what}; kustomize rejects the plugin"))
}

fn add_affix(plugin: &Object, fields: &[(&str, Affix)], specs: &[FieldSpec], accumulator: &mut Accumulator) {
    if plugin.node.get("fieldSpecs").is_none_or(Node::is_null) {
        accumulator.fail(missing_field(plugin, "`fieldSpecs`"));
        return;
    }
    for (field, affix) in fields {
        let written = plugin.node.get(field).filter(|node| !node.is_null()).cloned();
        let value = written.unwrap_or_else(|| Node::scalar("", Style::Double, plugin.span().clone()));
        names::apply(*affix, &value, specs, accumulator);
    }
}

fn set_namespace(plugin: &Object, specs: &[FieldSpec], accumulator: &mut Accumulator) {
    let metadata = plugin.node.get("metadata");
    let namespace_entry = metadata.and_then(|metadata| metadata.entry("namespace"));
    let Some(entry) = namespace_entry.filter(|entry| entry.node.text().is_some_and(|text| !text.is_empty())) else {
        return;
    };
    let text = |field: &str| plugin.node.get(field).and_then(Node::text).unwrap_or_default();
    let subjects = match text("setRoleBindingSubjects") {
        "" | "defaultOnly" => Subjects::NamedDefault,
        "allServiceAccounts" => Subjects::ServiceAccounts,
        "none" => Subjects::None,
        other => {
            let message = format!("`{other}` is not valid; use `defaultOnly`, `allServiceAccounts` or `none`");
            let span = plugin.node.get("setRoleBindingSubjects").unwrap_or(&plugin.node).span().clone();
            accumulator.fail(Finding::error(FAILED_BUILD, span, message));
            return;
        }
    };
    if !accumulator.take_fields(specs, 1, plugin.span()) {
        return;
    }
    let options = namespace::Options { unset_only: text("unsetOnly") == "true", subjects };
    let result = namespace::apply(&mut accumulator.resources, &entry.key_span(), &entry.node, specs, options);
    accumulator.record_error(result);
    accumulator.reject_id_conflicts(&entry.node);
}
