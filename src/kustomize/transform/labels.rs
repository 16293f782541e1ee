//! `labels` and `commonLabels`: labels in metadata, and optionally in templates and selectors.

use crate::base::finding::Finding;
use crate::kustomize::fieldspec::field_spec::{CreateKind, FieldError, FieldSpec, Gvk};
use crate::kustomize::fieldspec::read_config::read_spec;
use crate::kustomize::fieldspec::transformer_config::{ConfigField, TransformerConfig};
use crate::kustomize::file::definition::Definition;
use crate::kustomize::objects::resources::Resource;
use crate::kustomize::state::accumulator::Accumulator;
use crate::kustomize::text::string_value::set_text_entry;
use crate::text::Span;
use crate::yaml::{Entry, Node};

/// An entry of `labels`, or `commonLabels`.
pub(crate) struct LabelSet {
    pairs: Vec<Entry>,
    specs: Vec<FieldSpec>,
    /// The position of the entry.
    at: Span,
}

/// The labels of a kustomization, in the order in which kustomize adds them.
pub(crate) fn read(definition: &Definition, config: &TransformerConfig, findings: &mut Vec<Finding>) -> Vec<LabelSet> {
    let items = definition.items("labels").iter();
    let mut sets: Vec<LabelSet> = items.map(|item| read_one(item, config, findings)).collect();
    if let Some(common) = definition.entry("commonLabels") {
        let pairs = common.node.entries().to_vec();
        let at = common.key_span();
        sets.push(LabelSet { at, pairs, specs: config.specs(ConfigField::CommonLabels).to_vec() });
    }
    sets
}

fn read_one(node: &Node, config: &TransformerConfig, findings: &mut Vec<Finding>) -> LabelSet {
    let is_enabled = |field: &str| node.get(field).and_then(Node::text) == Some("true");
    let fields = node.get("fields").map_or(&[][..], Node::items).iter();
    let own_specs: Vec<FieldSpec> = fields.filter_map(|field| read_spec(field, findings)).collect();
    let mut config_fields = vec![ConfigField::Labels];
    if is_enabled("includeSelectors") {
        config_fields.push(ConfigField::CommonLabels);
    } else {
        config_fields.extend(is_enabled("includeTemplates").then_some(ConfigField::TemplateLabels));
    }
    let mut all = TransformerConfig::default();
    let metadata = FieldSpec::new(Gvk::new("", "", ""), "metadata/labels", true);
    let configured = config_fields.iter().flat_map(|config_field| config.specs(*config_field).iter().cloned());
    let metadata = (!is_enabled("includeSelectors")).then_some(metadata);
    for spec in own_specs.into_iter().chain(configured).chain(metadata) {
        if let Err(conflict) = all.add(ConfigField::Labels, &spec) {
            findings.push(conflict.finding(node.span()));
            break;
        }
    }
    let pairs = node.get("pairs").map_or(&[][..], Node::entries).to_vec();
    LabelSet { at: node.span().clone(), pairs, specs: all.specs(ConfigField::Labels).to_vec() }
}

impl LabelSet {
    /// Creates a set of labels with its field specs and its position.
    pub(crate) fn new(pairs: Vec<Entry>, specs: Vec<FieldSpec>, at: Span) -> Self {
        Self { pairs, specs, at }
    }

    /// Adds the labels to all objects.
    pub(crate) fn apply(&self, accumulator: &mut Accumulator) {
        if accumulator.take_fields(&self.specs, self.pairs.len(), &self.at) {
            let result = accumulator.resources.list.iter_mut().try_for_each(|resource| self.add_to(resource));
            accumulator.record_error(result);
        }
    }

    fn add_to(&self, resource: &mut Resource) -> Result<(), FieldError> {
        let mut node = resource.node.clone();
        for entry in &self.pairs {
            let key_span = entry.key_span();
            let mut set =
                |map: Option<&Node>| Ok(map.map(|map| set_text_entry(map, &entry.key, &key_span, &entry.node)));
            for spec in self.specs.iter().filter(|spec| spec.matches(&resource.id)) {
                node = spec.apply(&node, CreateKind::Map(&key_span), &mut set)?.unwrap_or(node);
            }
        }
        resource.node = node;
        Ok(())
    }
}
