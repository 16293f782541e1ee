//! The transformers of a kustomization in kustomize's order, regardless of the order in the file.

use super::names::{self, Affix};
use super::{annotations, images, labels, namespace, replacements, replicas};
use crate::base::finding::{Finding, Severity};
use crate::kustomize::fieldspec::field_spec::FieldError;
use crate::kustomize::fieldspec::transformer_config::ConfigField;
use crate::kustomize::file::definition::Definition;
use crate::kustomize::file::files::Files;
use crate::kustomize::omission::Omission;
use crate::kustomize::patch::read::{self, PatchFormat};
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::Accumulator;
use crate::yaml::{Entry, Node};

/// Runs the transformers over all accumulated objects.
pub(crate) fn run(files: &Files, definition: &Definition, accumulator: &mut Accumulator) {
    let folder = &definition.folder;
    let earlier_targets = accumulator.patch_targets.len();
    let merges = definition.items("patchesStrategicMerge");
    apply_patches(files, folder, merges, PatchFormat::Merge, accumulator);
    accumulator.record_transformers("PatchStrategicMergeTransformer", merges.len().min(1));
    apply_patches(files, folder, definition.items("patches"), PatchFormat::Any, accumulator);
    accumulator.record_transformers("PatchTransformer", definition.items("patches").len());
    accumulator.change(|accumulator| {
        set_namespace(definition, accumulator);
        add_affix(definition, "namePrefix", Affix::Prefix, accumulator);
        add_affix(definition, "nameSuffix", Affix::Suffix, accumulator);
        add_labels(definition, accumulator);
    });
    let config = accumulator.config.clone();
    let annotated = config.specs(ConfigField::CommonAnnotations);
    if let Some(pairs) = definition.entry("commonAnnotations")
        && accumulator.take_fields(annotated, pairs.node.entries().len(), &pairs.key_span())
    {
        annotations::apply(pairs.node.entries(), annotated, accumulator);
        accumulator.record_transformers("AnnotationsTransformer", pairs.node.entries().len().min(1));
    }
    apply_patches(files, folder, definition.items("patchesJson6902"), PatchFormat::Json, accumulator);
    accumulator.record_transformers("PatchJson6902Transformer", definition.items("patchesJson6902").len());
    accumulator.change(|accumulator| {
        replicas::apply(definition.items("replicas"), config.specs(ConfigField::Replicas), accumulator);
    });
    accumulator.record_transformers("ReplicaCountTransformer", definition.items("replicas").len());
    for field in ["images", "imageTags"] {
        images::apply(definition.items(field), config.specs(ConfigField::Images), accumulator);
        accumulator.record_transformers("ImageTagTransformer", definition.items(field).len());
    }
    if !definition.is_component() {
        let own = accumulator.patch_targets.iter_mut().skip(earlier_targets);
        own.for_each(|target| target.is_general = false);
    }
    let replaced = definition.items("replacements");
    accumulator.change(|accumulator| replacements::apply(files, folder, replaced, accumulator));
    accumulator.record_transformers("ReplacementTransformer", replaced.len().min(1));
    accumulator.resources.reindex();
}

/// The entry of a field with a text.
fn text_entry<'a>(definition: &'a Definition, field: &str) -> Option<&'a Entry> {
    definition.entry(field).filter(|entry| entry.node.text().is_some_and(|text| !text.is_empty()))
}

fn set_namespace(definition: &Definition, accumulator: &mut Accumulator) {
    let Some(entry) = text_entry(definition, "namespace") else { return };
    let (config, key) = (accumulator.config.clone(), entry.key_span());
    let specs = config.specs(ConfigField::Namespace);
    if !accumulator.take_fields(specs, 1, &key) {
        return;
    }
    let result =
        namespace::apply(&mut accumulator.resources, &key, &entry.node, specs, namespace::Options::KUSTOMIZATION_FIELD);
    accumulator.record_error(result);
    accumulator.record_transformers("NamespaceTransformer", 1);
    accumulator.reject_id_conflicts(&entry.node);
}

fn add_affix(definition: &Definition, field: &str, affix: Affix, accumulator: &mut Accumulator) {
    let Some(entry) = text_entry(definition, field) else { return };
    let config_field = match affix {
        Affix::Prefix => ConfigField::NamePrefix,
        Affix::Suffix => ConfigField::NameSuffix,
    };
    let config = accumulator.config.clone();
    names::apply(affix, &entry.node, config.specs(config_field), accumulator);
    let kind = if affix == Affix::Prefix { "PrefixTransformer" } else { "SuffixTransformer" };
    accumulator.record_transformers(kind, 1);
}

fn add_labels(definition: &Definition, accumulator: &mut Accumulator) {
    for set in labels::read(definition, &accumulator.config, &mut accumulator.findings) {
        set.apply(accumulator);
    }
    let (own, common) = (definition.items("labels").len(), definition.entry("commonLabels"));
    let any = own > 0 || common.is_some_and(|common| !common.node.entries().is_empty());
    // kustomize counts the transformer of `commonLabels` whenever there are any labels.
    accumulator.record_transformers("LabelTransformer", if any { own + 1 } else { 0 });
}

/// Applies a list of patches.
pub(crate) fn apply_patches(
    files: &Files,
    folder: &str,
    items: &[Node],
    format: PatchFormat,
    accumulator: &mut Accumulator,
) {
    if items.is_empty() {
        return;
    }
    let (complete, schema) = (!accumulator.is_incomplete, accumulator.schema.clone());
    let mut findings = Vec::new();
    let patches = read::read(files, folder, items, format, &mut findings);
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        accumulator.resources.miss_changes();
    }
    // All patches share one index, so that 1,000 patches do not scan 4,000 objects each.
    let mut positions = accumulator.resources.index();
    let mut targets = Vec::new();
    for patch in patches {
        if patch.has_encrypted_identity() {
            accumulator.skip(Omission::EncryptedPatch);
            continue;
        }
        if let Some(name) = patch.name_of_namespaces() {
            accumulator.rename_unread(name);
        }
        let resources = &mut accumulator.resources;
        let selected = patch.apply(resources, &mut positions, complete, schema.as_deref(), &mut findings);
        let is_small = accumulator.take_steps(patch.take_steps(), &patch.span);
        if !is_small || !accumulator.take_copies(patch.take_copies(), &patch.span) {
            break;
        }
        let Some(selected) = selected else { continue };
        let resources = &accumulator.resources;
        let is_known = (complete || accumulator.is_outlined) && !accumulator.awaits_bootstrap;
        targets.extend(patch.target_outcome(selected, is_known, resources, targets.len()));
    }
    accumulator.patch_targets.extend(targets);
    accumulator.resources.remove_deleted();
    for finding in findings {
        accumulator.fail(finding);
    }
}

impl Accumulator {
    /// Reports the error of a transformer.
    pub(crate) fn record_error(&mut self, result: Result<(), FieldError>) {
        if let Err(error) = result {
            self.fail(Finding::error(FAILED_BUILD, error.span, error.message));
        }
    }
}
