//! kustomize's own transformers, configured by objects.

use std::sync::Arc;

use super::names::{self, Affix};
use super::namespace::{self, Subjects};
use super::{annotations, images, labels, replacements, replicas, sequence, value_add};
use crate::base::finding::Finding;
use crate::kube::Object;
use crate::kustomize::fieldspec::field_spec::FieldSpec;
use crate::kustomize::fieldspec::read_config::read_spec_of_object;
use crate::kustomize::file::files::Files;
use crate::kustomize::generate::hash;
use crate::kustomize::patch::read;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::Partial;
use crate::yaml::{Entry, Node, Style, Value};

/// A mapping made of fields of an object, under the names that a kustomization gives them.
fn entry_of(plugin: &Object, fields: &[(&str, &str)]) -> Node {
    let entry = |(from, to): &(&str, &str)| {
        let entry = plugin.node.entry(from)?;
        Some(Entry::new(*to, &entry.key_span(), entry.node.clone()))
    };
    let entries: Arc<[Entry]> = fields.iter().filter_map(entry).collect();
    Node { value: Value::Map(entries), origin: plugin.node.origin.clone() }
}

/// Runs the transformer that an object configures.
pub(crate) fn run(files: &Files, folder: &str, plugin: &Object, partial: &mut Partial) {
    let mut findings = Vec::new();
    let field = |name: &str| plugin.node.get(name).filter(|node| !node.is_null());
    let entries = |name: &str| field(name).map_or(&[][..], Node::entries);
    let items = |name: &str| field(name).map_or(&[][..], Node::items);
    let specs: Vec<FieldSpec> =
        items("fieldSpecs").iter().filter_map(|item| read_spec_of_object(item, &mut findings)).collect();
    for finding in findings {
        partial.fail(finding);
    }
    let one = |name: &str| field(name).cloned().into_iter().collect::<Vec<Node>>();
    match plugin.kind() {
        "AnnotationsTransformer" => annotations::apply(entries("annotations"), &specs, partial),
        "HashTransformer" => hash::add_to_names(&mut partial.resources),
        "ImageTagTransformer" => images::apply(&one("imageTag"), &specs, partial),
        "LabelTransformer" => {
            let set = labels::LabelSet::new(entries("labels").to_vec(), specs);
            let done = partial.resources.list.iter_mut().try_for_each(|resource| set.apply(resource));
            partial.noted(done);
        }
        "NamespaceTransformer" => put_into_namespace(plugin, &specs, partial),
        "PatchTransformer" => {
            let fields = [("path", "path"), ("patch", "patch"), ("target", "target"), ("options", "options")];
            sequence::patch(files, folder, &[entry_of(plugin, &fields)], read::Form::Any, partial);
        }
        "PatchStrategicMergeTransformer" => {
            let inline = field("patches").map(|_| entry_of(plugin, &[("patches", "patch")]));
            let all: Vec<Node> = items("paths").iter().cloned().chain(inline).collect();
            if all.is_empty() {
                partial.fail(lacking(plugin, "`paths` or `patches`"));
            }
            sequence::patch(files, folder, &all, read::Form::Merge, partial);
        }
        "PatchJson6902Transformer" => {
            let entry = entry_of(plugin, &[("path", "path"), ("jsonOp", "patch"), ("target", "target")]);
            sequence::patch(files, folder, &[entry], read::Form::Json, partial);
        }
        "PrefixTransformer" => affix(plugin, &[("prefix", Affix::Prefix)], &specs, partial),
        "SuffixTransformer" => affix(plugin, &[("suffix", Affix::Suffix)], &specs, partial),
        "PrefixSuffixTransformer" => {
            affix(plugin, &[("prefix", Affix::Prefix), ("suffix", Affix::Suffix)], &specs, partial);
        }
        "ReplacementTransformer" => replacements::apply(files, folder, items("replacements"), partial),
        "ReplicaCountTransformer" => replicas::apply(&one("replica"), &specs, partial),
        "ValueAddTransformer" => value_add::apply(files, folder, &plugin.node, partial),
        _ => unreachable!("only those that are known are run"),
    }
}

fn lacking(plugin: &Object, what: &str) -> Finding {
    let message = format!("{} `{}` says no {what}", plugin.kind(), plugin.name());
    Finding::error(FAILED_BUILD, plugin.span().clone(), message).help("add it: kustomize refuses it so")
}

fn affix(plugin: &Object, fields: &[(&str, Affix)], specs: &[FieldSpec], partial: &mut Partial) {
    if plugin.node.get("fieldSpecs").is_none_or(Node::is_null) {
        partial.fail(lacking(plugin, "`fieldSpecs`"));
        return;
    }
    for (field, affix) in fields {
        let said = plugin.node.get(field).filter(|node| !node.is_null()).cloned();
        let value = said.unwrap_or_else(|| Node::scalar("", Style::Double, plugin.span().clone()));
        let done = names::apply(*affix, &value, specs, &mut partial.resources);
        partial.noted(done);
    }
}

fn put_into_namespace(plugin: &Object, specs: &[FieldSpec], partial: &mut Partial) {
    let metadata = plugin.node.get("metadata");
    let said = metadata.and_then(|metadata| metadata.entry("namespace"));
    let Some(entry) = said.filter(|entry| entry.node.text().is_some_and(|text| !text.is_empty())) else { return };
    let text = |field: &str| plugin.node.get(field).and_then(Node::text).unwrap_or_default();
    let subjects = match text("setRoleBindingSubjects") {
        "" | "defaultOnly" => Subjects::NamedDefault,
        "allServiceAccounts" => Subjects::Accounts,
        "none" => Subjects::None,
        other => {
            let message = format!("`{other}` is none of `defaultOnly`, `allServiceAccounts` and `none`");
            let at = plugin.node.get("setRoleBindingSubjects").unwrap_or(&plugin.node).span().clone();
            partial.fail(Finding::error(FAILED_BUILD, at, message));
            return;
        }
    };
    let options = namespace::Options { unset_only: text("unsetOnly") == "true", subjects };
    let done = namespace::apply(&mut partial.resources, &entry.key_span(), &entry.node, specs, options);
    partial.noted(done);
    partial.refuse_conflicts(&entry.node);
}
