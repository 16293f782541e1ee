//! `generators`, `transformers` and `validators`: built-in plugins that objects configure.
//!
//! Other plugins are programs. kustomize runs them only with `--enable-alpha-plugins`.

use super::walk::Walk;
use crate::base::finding::{FaultKind, Finding};
use crate::base::similar_names::did_you_mean;
use crate::kube::Object;
use crate::kustomize::file::definition::Definition;
use crate::kustomize::file::manifests::objects_of;
use crate::kustomize::file::plugin_fields;
use crate::kustomize::generate::generator_kind::GeneratorKind;
use crate::kustomize::generate::{config_maps, iam_policy};
use crate::kustomize::objects::resources::Resource;
use crate::kustomize::objects::trace::{PluginRef, Trace};
use crate::kustomize::omission::Omission;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::Accumulator;
use crate::kustomize::transform::builtin_plugins;
use crate::yaml::{Embedded, Entry, Node, Value};

/// The `apiVersion` of built-in plugins.
const BUILTIN: &str = "builtin";

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

/// The label that a validator may add.
const VALIDATED_BY: &str = "validated-by";

impl Walk<'_> {
    /// Runs the generators that a kustomization lists.
    pub(super) fn generate(&mut self, definition: &Definition, accumulator: &mut Accumulator) {
        let plugins = self.plugins(definition, "generators", GENERATORS, accumulator);
        if plugins.is_empty() {
            return;
        }
        let mut positions = accumulator.resources.index();
        for (plugin, trace) in plugins {
            let folder = &definition.folder;
            let generated = match plugin.kind() {
                "ConfigMapGenerator" => config_maps::generate(
                    self.files,
                    folder,
                    GeneratorKind::ConfigMap,
                    &generator_entry(&plugin),
                    None,
                    accumulator,
                ),
                "SecretGenerator" => config_maps::generate(
                    self.files,
                    folder,
                    GeneratorKind::Secret,
                    &generator_entry(&plugin),
                    None,
                    accumulator,
                ),
                "IAMPolicyGenerator" => match iam_policy::generate(&plugin.node) {
                    Ok(node) => Some((Resource::new(node), plugin.node.clone())),
                    Err(finding) => {
                        accumulator.fail(finding);
                        None
                    }
                },
                _ => {
                    let message = "this chart was not inflated, because inflation requires Helm";
                    accumulator
                        .leave_out(Omission::HelmCharts, Finding::error(FAILED_BUILD, plugin.span().clone(), message));
                    None
                }
            };
            if let Some((mut resource, location)) = generated {
                if self.is_traced {
                    resource.set_generator(PluginRef::from_object(&plugin, &trace));
                }
                config_maps::add_generated(accumulator, &mut positions, resource, &location);
            }
        }
    }

    /// Runs the transformers that a kustomization lists, after the transformers of the kustomization's own fields.
    pub(super) fn transform(&mut self, definition: &Definition, accumulator: &mut Accumulator) {
        for (plugin, trace) in self.plugins(definition, "transformers", TRANSFORMERS, accumulator) {
            builtin_plugins::run(self.files, &definition.folder, &plugin, accumulator);
            accumulator.record_transformer(&PluginRef::from_object(&plugin, &trace));
            accumulator.resources.remove_deleted();
            accumulator.resources.reindex();
        }
    }

    /// Runs the validators that a kustomization lists: transformers that must not change objects.
    pub(super) fn validate(&mut self, definition: &Definition, accumulator: &mut Accumulator) {
        for (plugin, _) in self.plugins(definition, "validators", TRANSFORMERS, accumulator) {
            let original = accumulator.resources.clone();
            builtin_plugins::run(self.files, &definition.folder, &plugin, accumulator);
            // A rewritten object counts as changed, even if its content is equal.
            let is_unchanged =
                |(a, b): (&Resource, &Resource)| match (&a.node.value, &without_validator_label(&b.node).value) {
                    (Value::Map(a), Value::Map(b)) => a.is_same(b),
                    _ => false,
                };
            let is_unchanged_build = original.list.len() == accumulator.resources.list.len()
                && original.list.iter().zip(&accumulator.resources.list).all(is_unchanged);
            accumulator.resources = original;
            if !is_unchanged_build {
                let message = format!("validator {} `{}` changes objects", plugin.kind(), plugin.name());
                let help =
                    "list it in `transformers` if this is intended; kustomize rejects a validator that changes objects";
                accumulator.fail(Finding::error(FAILED_BUILD, plugin.span().clone(), message).help(help));
            }
        }
    }

    /// The plugins of a field: inline plugins first, then the plugins of files and directories.
    fn plugins(
        &mut self,
        definition: &Definition,
        field: &str,
        known: &[&str],
        accumulator: &mut Accumulator,
    ) -> Vec<(Object, Trace)> {
        let items = definition.items(field);
        if items.is_empty() {
            return Vec::new();
        }
        let mut plugin_accumulator = accumulator.part();
        let mut paths = Vec::new();
        for item in items {
            let parsed = Embedded::inherited(item).parse();
            if !parsed.documents.iter().any(|document| document.node.is_map()) {
                paths.push(item);
                continue;
            }
            let contents = objects_of(&parsed);
            parsed
                .findings
                .iter()
                .cloned()
                .chain(contents.findings)
                .for_each(|finding| plugin_accumulator.fail(finding));
            for node in contents.objects {
                let mut resource = Resource::new(node);
                resource.set_source_file(&definition.path());
                plugin_accumulator.add(resource, item);
            }
        }
        for item in paths {
            self.include(definition, item, &mut plugin_accumulator);
        }
        accumulator.is_incomplete |= plugin_accumulator.is_incomplete;
        accumulator.findings.append(&mut plugin_accumulator.findings);
        accumulator.left_out.append(&mut plugin_accumulator.left_out);
        accumulator.charts.append(&mut plugin_accumulator.charts);
        accumulator.folders.append(&mut plugin_accumulator.folders);
        for (omission, count) in plugin_accumulator.not_done {
            *accumulator.not_done.entry(omission).or_default() += count;
        }
        let mut plugins = Vec::new();
        for resource in plugin_accumulator.resources.list {
            let object = Object { node: resource.node };
            if object.api_version() == BUILTIN && known.contains(&object.kind()) {
                let (node, findings) = plugin_fields::check(&object.node, object.kind());
                if findings.is_empty() {
                    plugins.push((Object { node }, resource.history.trace));
                }
                for finding in findings {
                    accumulator.fail(finding);
                }
            } else {
                accumulator.fail(unsupported(&object, field, known));
            }
        }
        plugins
    }
}

fn unsupported(object: &Object, field: &str, known: &[&str]) -> Finding {
    let kind = object.kind();
    let span = object.node.get("kind").unwrap_or(&object.node).span().clone();
    if object.api_version() != BUILTIN {
        let message =
            format!("{kind} `{}` is an external plugin, which kustomize does not run by default", object.name());
        return Finding::error(FAILED_BUILD, span, message).of_kind(FaultKind::ExternalPlugin).help(format!(
            "use a built-in plugin in `{field}`, with `apiVersion: {BUILTIN}`: Flux never runs external plugins"
        ));
    }
    let message = format!("kustomize has no built-in {kind} for `{field}`");
    let help = match did_you_mean(kind, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("use one of: {}", known.join(", ")),
    };
    Finding::error(FAILED_BUILD, span, message).help(help)
}

/// The object without the label that a validator adds.
fn without_validator_label(node: &Node) -> Node {
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

/// The entry of a generator, with the name and the namespace of the plugin object.
///
/// kustomize reads `env` only in a kustomization, so this function removes the field.
fn generator_entry(plugin: &Object) -> Node {
    let node = plugin.node.without("env");
    let metadata = plugin.node.get("metadata").map_or(&[][..], Node::entries);
    let identity = metadata.iter().filter(|entry| matches!(&*entry.key, "name" | "namespace"));
    let missing: Vec<Entry> = identity.filter(|entry| plugin.node.get(&entry.key).is_none()).cloned().collect();
    missing.into_iter().fold(node, |node, entry| node.with(entry))
}
