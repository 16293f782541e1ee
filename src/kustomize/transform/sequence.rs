//! The transformers of one kustomization, in kustomize's order, whatever the order in the file.

use super::names::{self, Affix};
use super::{annotations, images, labels, namespace, replacements, replicas};
use crate::base::finding::Finding;
use crate::kustomize::fieldspec::field_spec::Misfit;
use crate::kustomize::fieldspec::transformer_config::Topic;
use crate::kustomize::file::definition::Definition;
use crate::kustomize::file::files::Files;
use crate::kustomize::patch::read::{self, Form};
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::kustomize::state::accumulator::Partial;
use crate::yaml::{Entry, Node};

/// Runs them over all objects that the kustomization holds.
pub(crate) fn run(files: &Files, definition: &Definition, partial: &mut Partial) {
    let folder = &definition.folder;
    let merges = definition.items("patchesStrategicMerge");
    patch(files, folder, merges, Form::Merge, partial);
    partial.traced_steps("PatchStrategicMergeTransformer", merges.len().min(1));
    patch(files, folder, definition.items("patches"), Form::Any, partial);
    partial.traced_steps("PatchTransformer", definition.items("patches").len());
    put_into_namespace(definition, partial);
    affix(definition, "namePrefix", Affix::Prefix, partial);
    affix(definition, "nameSuffix", Affix::Suffix, partial);
    label(definition, partial);
    let configuration = partial.configuration.clone();
    if let Some(pairs) = definition.entry("commonAnnotations") {
        annotations::apply(pairs.node.entries(), configuration.specs(Topic::CommonAnnotations), partial);
        partial.traced_steps("AnnotationsTransformer", pairs.node.entries().len().min(1));
    }
    patch(files, folder, definition.items("patchesJson6902"), Form::Json, partial);
    partial.traced_steps("PatchJson6902Transformer", definition.items("patchesJson6902").len());
    replicas::apply(definition.items("replicas"), configuration.specs(Topic::Replicas), partial);
    partial.traced_steps("ReplicaCountTransformer", definition.items("replicas").len());
    for field in ["images", "imageTags"] {
        images::apply(definition.items(field), configuration.specs(Topic::Images), partial);
        partial.traced_steps("ImageTagTransformer", definition.items(field).len());
    }
    let replaced = definition.items("replacements");
    replacements::apply(files, folder, replaced, partial);
    partial.traced_steps("ReplacementTransformer", replaced.len().min(1));
    partial.resources.reindex();
}

/// An entry that holds a text.
fn said<'a>(definition: &'a Definition, field: &str) -> Option<&'a Entry> {
    definition.entry(field).filter(|entry| entry.node.text().is_some_and(|text| !text.is_empty()))
}

fn put_into_namespace(definition: &Definition, partial: &mut Partial) {
    let Some(entry) = said(definition, "namespace") else { return };
    let specs = partial.configuration.specs(Topic::Namespace);
    let key = entry.key_span();
    let done = namespace::apply(&mut partial.resources, &key, &entry.node, specs, namespace::Options::USUAL);
    partial.noted(done);
    partial.traced_steps("NamespaceTransformer", 1);
    partial.refuse_conflicts(&entry.node);
}

fn affix(definition: &Definition, field: &str, affix: Affix, partial: &mut Partial) {
    let Some(entry) = said(definition, field) else { return };
    let topic = match affix {
        Affix::Prefix => Topic::NamePrefix,
        Affix::Suffix => Topic::NameSuffix,
    };
    let done = names::apply(affix, &entry.node, partial.configuration.specs(topic), &mut partial.resources);
    partial.noted(done);
    let kind = if affix == Affix::Prefix { "PrefixTransformer" } else { "SuffixTransformer" };
    partial.traced_steps(kind, 1);
}

fn label(definition: &Definition, partial: &mut Partial) {
    for set in labels::read(definition, &partial.configuration, &mut partial.findings) {
        let done = partial.resources.list.iter_mut().try_for_each(|resource| set.apply(resource));
        partial.noted(done);
    }
    let (own, common) = (definition.items("labels").len(), definition.entry("commonLabels"));
    let any = own > 0 || common.is_some_and(|common| !common.node.entries().is_empty());
    // The common ones are written whenever there are any at all.
    partial.traced_steps("LabelTransformer", if any { own + 1 } else { 0 });
}

/// Lays the patches of a list over the objects they are for.
pub(crate) fn patch(files: &Files, folder: &str, items: &[Node], form: Form, partial: &mut Partial) {
    if items.is_empty() {
        return;
    }
    let (complete, schema) = (!partial.uncertain, partial.schema.clone());
    let mut findings = Vec::new();
    let patches = read::read(files, folder, items, form, &mut findings);
    // One index for all patches: 4,000 objects and 1,000 patches are looked up, not scanned.
    let mut positions = partial.resources.index();
    let mut laid = Vec::new();
    for patch in patches {
        if patch.is_sealed() {
            partial.skip("patches: <encrypted>");
            continue;
        }
        let resources = &mut partial.resources;
        let Some(selected) = patch.apply(resources, &mut positions, complete, schema.as_deref(), &mut findings) else {
            continue;
        };
        // What is not here may be what the patch is for.
        if selected > 0 || (complete && !partial.awaits_flux) {
            laid.extend(patch.laid(selected, resources, laid.len()));
        }
    }
    partial.laid.extend(laid);
    partial.resources.sweep();
    for finding in findings {
        partial.fail(finding);
    }
}

impl Partial {
    /// Notes what a transformer could not do.
    pub(crate) fn noted(&mut self, done: Result<(), Misfit>) {
        if let Err(misfit) = done {
            self.fail(Finding::error(FAILED_BUILD, misfit.span, misfit.message));
        }
    }
}
