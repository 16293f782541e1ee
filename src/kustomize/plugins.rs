//! `generators`, `transformers` and `validators`: kustomize's own, written as objects. Others are programs, and kustomize
//! runs none unless it is told to.

use std::sync::Arc;

use super::build::{FAILED_BUILD, Walk};
use crate::base::finding::{Finding, did_you_mean};
use crate::kube::Object;
use crate::kustomize::fieldspec::field_spec::FieldSpec;
use crate::kustomize::fieldspec::transformer_config::read_spec_of_object;
use crate::kustomize::file::definition::Definition;
use crate::kustomize::file::files::Files;
use crate::kustomize::file::manifests::objects_of;
use crate::kustomize::file::plugin_fields;
use crate::kustomize::generate::{config_maps, hash, iam_policy};
use crate::kustomize::objects::resources::Resource;
use crate::kustomize::patch::read;
use crate::kustomize::state::accumulator::Partial;
use crate::kustomize::state::origin_annotations::{Maker, Trace};
use crate::kustomize::transform::names::{self, Affix};
use crate::kustomize::transform::namespace::{self, Subjects};
use crate::kustomize::transform::{annotations, images, labels, replacements, replicas, sequence, value_add};
use crate::yaml::{Entry, Inside, Node, Style, Value};

/// The version that says that a generator or transformer is one of kustomize's own.
const OWN: &str = "builtin";

const GENERATORS: &[&str] =
    &["ConfigMapGenerator", "SecretGenerator", "HelmChartInflationGenerator", "IAMPolicyGenerator"];

const TRANSFORMERS: &[&str] = &[
    "AnnotationsTransformer",
    "HashTransformer",
    "ImageTagTransformer",
    "LabelTransformer",
    "NamespaceTransformer",
    "PatchJson6902Transformer",
    "PatchStrategicMergeTransformer",
    "PatchTransformer",
    "PrefixSuffixTransformer",
    "PrefixTransformer",
    "SuffixTransformer",
    "ReplacementTransformer",
    "ReplicaCountTransformer",
    "ValueAddTransformer",
];

/// The label that a validator may leave behind.
const VALIDATED_BY: &str = "validated-by";

impl Walk<'_> {
    /// Runs the generators that a kustomization names.
    pub(super) fn generate(&mut self, definition: &Definition, partial: &mut Partial) {
        let plugins = self.plugins(definition, "generators", GENERATORS, partial);
        if plugins.is_empty() {
            return;
        }
        let mut positions = partial.resources.index();
        for (plugin, trace) in plugins {
            let folder = &definition.folder;
            let made = match plugin.kind() {
                "ConfigMapGenerator" => {
                    config_maps::make(self.files, folder, config_maps::Kind::ConfigMap, &named(&plugin), None, partial)
                }
                "SecretGenerator" => {
                    config_maps::make(self.files, folder, config_maps::Kind::Secret, &named(&plugin), None, partial)
                }
                "IAMPolicyGenerator" => match iam_policy::make(&plugin.node) {
                    Ok(node) => Some((Resource::new(node), plugin.node.clone())),
                    Err(finding) => {
                        partial.fail(finding);
                        None
                    }
                },
                _ => {
                    let message = "this chart was not inflated: that needs Helm, which is not run";
                    partial.leave_out("helmCharts", Finding::error(FAILED_BUILD, plugin.span().clone(), message));
                    None
                }
            };
            if let Some((mut resource, place)) = made {
                if self.traced {
                    resource.traced_to_maker(Maker::of_object(&plugin, &trace));
                }
                config_maps::absorb(partial, &mut positions, resource, &place);
            }
        }
    }

    /// Runs the transformers that a kustomization names, after those of its own fields.
    pub(super) fn transform(&mut self, definition: &Definition, partial: &mut Partial) {
        for (plugin, trace) in self.plugins(definition, "transformers", TRANSFORMERS, partial) {
            run(self.files, &definition.folder, &plugin, partial);
            partial.traced_by(&Maker::of_object(&plugin, &trace));
            partial.resources.sweep();
            partial.resources.reindex();
        }
    }

    /// Runs the validators that a kustomization names: transformers that may not change anything.
    pub(super) fn validate(&mut self, definition: &Definition, partial: &mut Partial) {
        for (plugin, _) in self.plugins(definition, "validators", TRANSFORMERS, partial) {
            let before = partial.resources.clone();
            run(self.files, &definition.folder, &plugin, partial);
            // What was written anew counts as changed, whatever was written.
            let untouched = |(a, b): (&Resource, &Resource)| match (&a.node.value, &unlabelled(&b.node).value) {
                (Value::Map(a), Value::Map(b)) => Arc::ptr_eq(a, b),
                _ => false,
            };
            let same = before.list.len() == partial.resources.list.len()
                && before.list.iter().zip(&partial.resources.list).all(untouched);
            partial.resources = before;
            if !same {
                let message = format!("validator {} `{}` changes objects", plugin.kind(), plugin.name());
                let help = "name it in `transformers` if it shall; kustomize refuses a validator that does";
                partial.fail(Finding::error(FAILED_BUILD, plugin.span().clone(), message).help(help));
            }
        }
    }

    /// The objects of a field that are among `known`: those written in it first, then those of files and folders.
    fn plugins(
        &mut self,
        definition: &Definition,
        field: &str,
        known: &[&str],
        partial: &mut Partial,
    ) -> Vec<(Object, Trace)> {
        let items = definition.items(field);
        if items.is_empty() {
            return Vec::new();
        }
        let mut own = Partial { uncertain: partial.uncertain, ..Partial::default() };
        let mut paths = Vec::new();
        for item in items {
            let parsed = Inside::handed_down(item).parse();
            if !parsed.documents.iter().any(|document| document.node.is_map()) {
                paths.push(item);
                continue;
            }
            let contents = objects_of(&parsed);
            parsed.findings.iter().cloned().chain(contents.faults).for_each(|finding| own.fail(finding));
            for node in contents.objects {
                let mut resource = Resource::new(node);
                resource.traced_to_file(&definition.path());
                own.add(resource, item);
            }
        }
        for item in paths {
            self.include(definition, item, &mut own);
        }
        partial.uncertain |= own.uncertain;
        partial.findings.append(&mut own.findings);
        partial.left_out.append(&mut own.left_out);
        partial.folders.append(&mut own.folders);
        for (what, count) in own.not_done {
            *partial.not_done.entry(what).or_default() += count;
        }
        let mut plugins = Vec::new();
        for resource in own.resources.list {
            let object = Object { node: resource.node };
            if object.api_version() == OWN && known.contains(&object.kind()) {
                let (node, findings) = plugin_fields::check(&object.node, object.kind());
                if findings.is_empty() {
                    plugins.push((Object { node }, resource.history.trace));
                }
                for finding in findings {
                    partial.fail(finding);
                }
            } else {
                partial.fail(refused(&object, field, known));
            }
        }
        plugins
    }
}

fn refused(object: &Object, field: &str, known: &[&str]) -> Finding {
    let kind = object.kind();
    let at = object.node.get("kind").unwrap_or(&object.node).span().clone();
    if object.api_version() != OWN {
        let message = format!("{kind} `{}` is a program of its own, and kustomize runs none here", object.name());
        return Finding::error(FAILED_BUILD, at, message)
            .help(format!("only kustomize's own can be used in `{field}`: those of `apiVersion: {OWN}`"));
    }
    let message = format!("kustomize has no {kind} that could stand in `{field}`");
    let help = match did_you_mean(kind, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("it has {}", known.join(", ")),
    };
    Finding::error(FAILED_BUILD, at, message).help(help)
}

/// The object without the label that says which validator looked at it.
fn unlabelled(node: &Node) -> Node {
    let labels = node.get("metadata").and_then(|metadata| metadata.entry("labels"));
    let (Some(metadata), Some(labels)) = (node.entry("metadata"), labels) else { return node.clone() };
    if labels.node.get(VALIDATED_BY).is_none() {
        return node.clone();
    }
    let rest = labels.node.without(VALIDATED_BY);
    let changed = match rest.entries() {
        [] => metadata.node.without("labels"),
        _ => metadata.node.with(labels.with_node(rest)),
    };
    node.with(metadata.with_node(changed))
}

/// The entry of a generator: an object's name and namespace are those of what it makes. Of its `env` kustomize makes
/// nothing, which it reads in a kustomization only.
fn named(plugin: &Object) -> Node {
    let node = plugin.node.without("env");
    let metadata = plugin.node.get("metadata").map_or(&[][..], Node::entries);
    let identity = metadata.iter().filter(|entry| matches!(&*entry.key, "name" | "namespace"));
    let missing: Vec<Entry> = identity.filter(|entry| plugin.node.get(&entry.key).is_none()).cloned().collect();
    missing.into_iter().fold(node, |node, entry| node.with(entry))
}

/// A mapping made of fields of an object, under the names that a kustomization gives them.
fn entry_of(plugin: &Object, fields: &[(&str, &str)]) -> Node {
    let entry = |(from, to): &(&str, &str)| {
        let entry = plugin.node.entry(from)?;
        Some(Entry::new(*to, &entry.key_span(), entry.node.clone()))
    };
    let entries: Arc<[Entry]> = fields.iter().filter_map(entry).collect();
    Node { value: Value::Map(entries), origin: plugin.node.origin.clone() }
}

fn run(files: &Files, folder: &str, plugin: &Object, partial: &mut Partial) {
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
