//! `labels` and `commonLabels`: pairs written into metadata, and into templates and selectors where asked.

use crate::base::finding::Finding;
use crate::kustomize::fieldspec::field_spec::{FieldSpec, Gvk, Make, Misfit};
use crate::kustomize::fieldspec::read_config::read_spec;
use crate::kustomize::fieldspec::transformer_config::{Configuration, Topic};
use crate::kustomize::file::definition::Definition;
use crate::kustomize::objects::resources::Resource;
use crate::kustomize::text::string_value::set_text;
use crate::yaml::{Entry, Node};

/// One entry of `labels`, or `commonLabels`.
pub(crate) struct LabelSet {
    pairs: Vec<Entry>,
    specs: Vec<FieldSpec>,
}

/// The labels of a kustomization in the order in which kustomize writes them.
pub(crate) fn read(
    definition: &Definition,
    configuration: &Configuration,
    findings: &mut Vec<Finding>,
) -> Vec<LabelSet> {
    let items = definition.items("labels").iter();
    let mut sets: Vec<LabelSet> = items.map(|item| read_one(item, configuration, findings)).collect();
    if let Some(common) = definition.entry("commonLabels") {
        let pairs = common.node.entries().to_vec();
        sets.push(LabelSet { pairs, specs: configuration.specs(Topic::CommonLabels).to_vec() });
    }
    sets
}

fn read_one(node: &Node, configuration: &Configuration, findings: &mut Vec<Finding>) -> LabelSet {
    let says = |field: &str| node.get(field).and_then(Node::text) == Some("true");
    let fields = node.get("fields").map_or(&[][..], Node::items).iter();
    let own: Vec<FieldSpec> = fields.filter_map(|field| read_spec(field, findings)).collect();
    let mut topics = vec![Topic::Labels];
    if says("includeSelectors") {
        topics.push(Topic::CommonLabels);
    } else {
        topics.extend(says("includeTemplates").then_some(Topic::TemplateLabels));
    }
    let mut all = Configuration::default();
    let metadata = FieldSpec::new(Gvk::new("", "", ""), "metadata/labels", true);
    let configured = topics.iter().flat_map(|topic| configuration.specs(*topic).iter().cloned());
    let metadata = (!says("includeSelectors")).then_some(metadata);
    for spec in own.into_iter().chain(configured).chain(metadata) {
        if let Err(conflict) = all.add(Topic::Labels, &spec) {
            findings.push(conflict.finding(node.span()));
            break;
        }
    }
    let pairs = node.get("pairs").map_or(&[][..], Node::entries).to_vec();
    LabelSet { pairs, specs: all.specs(Topic::Labels).to_vec() }
}

impl LabelSet {
    /// Pairs and where they are written.
    pub(crate) fn new(pairs: Vec<Entry>, specs: Vec<FieldSpec>) -> Self {
        Self { pairs, specs }
    }

    /// Writes the pairs into an object.
    pub(crate) fn apply(&self, resource: &mut Resource) -> Result<(), Misfit> {
        let mut node = resource.node.clone();
        for entry in &self.pairs {
            let key_span = entry.key_span();
            let mut set = |map: Option<&Node>| Ok(map.map(|map| set_text(map, &entry.key, &key_span, &entry.node)));
            for spec in self.specs.iter().filter(|spec| spec.matches(&resource.id)) {
                node = spec.apply(&node, Make::Map(&key_span), &mut set)?.unwrap_or(node);
            }
        }
        resource.node = node;
        Ok(())
    }
}
