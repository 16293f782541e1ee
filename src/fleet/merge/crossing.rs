//! The settings of components on clusters: `components` of the levels of a cluster, merged over the component's own
//! settings.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::expression::Expressions;
use super::levels::{Merged, MergedComponent, MergedTenant, merge};
use crate::base::finding::Finding;
use crate::fleet::input::files::Input;
use crate::fleet::input::layout::Layout;
use crate::text::Index;
use crate::yaml::{Node, Value};

/// A component or stage with different settings on a cluster.
#[derive(Debug, Clone)]
pub(crate) struct Crossing {
    pub part: Part,
    /// All settings on the cluster.
    pub node: Node,
}

/// The indices of a tenant, a component and a stage. The stage is `None` for a component without stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Part {
    pub tenant: usize,
    pub component: usize,
    pub stage: Option<usize>,
}

impl Part {
    /// Returns the component and the node of the part itself.
    pub(crate) fn of(self, tenants: &[MergedTenant]) -> Option<(&MergedTenant, &MergedComponent, &Node)> {
        let tenant = tenants.get(self.tenant)?;
        let component = tenant.components.get(self.component)?;
        let node = match self.stage {
            Some(stage) => component.stages.get(stage)?,
            None => &component.node,
        };
        Some((tenant, component, node))
    }
}

/// The crossings of a cluster. Clusters with the same settings share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Crossings {
    pub parts: Vec<Arc<Crossing>>,
    /// The merged `source` settings of components, by tenant and component.
    pub sources: BTreeMap<(usize, usize), Node>,
}

/// The parts of a fleet by their names.
pub(crate) struct Parts<'a> {
    tenants: &'a [MergedTenant],
    components: Index<(&'a str, &'a str), (usize, usize)>,
}

impl<'a> Parts<'a> {
    pub(crate) fn of(tenants: &'a [MergedTenant]) -> Self {
        let mut components = Index::default();
        for (at, tenant) in tenants.iter().enumerate() {
            let Some(own) = name(&tenant.node) else { continue };
            for (position, component) in tenant.components.iter().enumerate() {
                let Some(component) = name(&component.node) else { continue };
                components.entry_or((own, component), || (at, position));
            }
        }
        Self { tenants, components }
    }

    /// Returns the component of a key, and the stage if the key has one. A key of an unknown part has neither.
    pub(crate) fn find(&self, key: &str) -> Option<Part> {
        let mut names = key.splitn(3, '/');
        let (tenant, component) = (names.next()?, names.next()?);
        let (tenant, component) = *self.components.get(&(tenant, component))?;
        let stages = &self.tenants.get(tenant)?.components.get(component)?.stages;
        let stage = match names.next() {
            Some(stage) => Some(stages.iter().position(|node| name(node) == Some(stage))?),
            None => None,
        };
        Some(Part { tenant, component, stage })
    }
}

fn name(node: &Node) -> Option<&str> {
    node.get("name").and_then(Node::text)
}

impl Crossings {
    /// Merges the crossings of each cluster.
    pub(crate) fn of(
        input: &Input,
        merged: &Merged,
        layout: Option<&Layout>,
        findings: &mut Vec<Finding>,
    ) -> Vec<Arc<Self>> {
        let crossing = Merger { parts: Parts::of(&merged.tenants), tenants: &merged.tenants, fleet: &merged.fleet };
        let mut expressions = Expressions::new(layout);
        let lowest = layout.and_then(|layout| layout.manifest.at_keys(&["defaults", "cluster", "components"]));
        let default = input.root.at_keys(&["defaults", "cluster", "components"]);
        // The clusters of an environment share its crossings, unless they set some themselves.
        let mut known: BTreeMap<&str, Arc<Self>> = BTreeMap::new();
        let mut all = Vec::with_capacity(merged.clusters.len());
        for (written, cluster) in input.clusters.iter().zip(&merged.clusters) {
            let environment = cluster.get("environment").and_then(Node::text).unwrap_or_default();
            let of_environment = input.root.at_keys(&["environments", environment, "components"]);
            let levels = [lowest, default, of_environment, written.get("components")];
            let levels = levels.map(|level| level.filter(|level| level.is_map()));
            // An expression may read the name of the cluster.
            let is_shared = levels[3].is_none() && !levels.iter().flatten().any(|level| has_expression(level));
            let crossings = match known.get(environment).filter(|_| is_shared) {
                Some(known) => known.clone(),
                None => Arc::new(crossing.merge(cluster, &levels, &mut expressions)),
            };
            if is_shared {
                known.insert(environment, crossings.clone());
            }
            all.push(crossings);
        }
        findings.extend(expressions.finish());
        all
    }
}

/// Merges the crossings of a cluster.
struct Merger<'a> {
    parts: Parts<'a>,
    tenants: &'a [MergedTenant],
    /// The variables of the fleet in expressions.
    fleet: &'a Node,
}

impl Merger<'_> {
    fn merge(&self, cluster: &Node, levels: &[Option<&Node>; 4], expressions: &mut Expressions) -> Crossings {
        let mut layers: BTreeMap<Part, Vec<Node>> = BTreeMap::new();
        let mut crossings = Crossings::default();
        for level in levels.iter().flatten() {
            // Within a level, the settings of a stage override the settings of its component.
            let mut entries: Vec<_> = level.entries().iter().filter(|entry| entry.node.is_map()).collect();
            entries.sort_by_key(|entry| entry.key.matches('/').count());
            for entry in entries {
                let Some(part) = self.parts.find(&entry.key) else { continue };
                let Some((_, component, _)) = part.of(self.tenants) else { continue };
                let settings = entry.node.without("source");
                if part.stage.is_some() || component.stages.is_empty() {
                    layers.entry(part).or_default().push(settings);
                } else {
                    // Two stages would apply the same directory.
                    let settings = settings.without("path");
                    for stage in 0..component.stages.len() {
                        layers.entry(Part { stage: Some(stage), ..part }).or_default().push(settings.clone());
                    }
                }
                if let Some(source) = entry.node.get("source").filter(|source| source.is_map()) {
                    let of = (part.tenant, part.component);
                    let merged = crossings.sources.get(&of).map_or_else(|| source.clone(), |low| merge(low, source));
                    crossings.sources.insert(of, merged);
                }
            }
        }
        for (part, layers) in layers {
            let Some((tenant, component, own)) = part.of(self.tenants) else { continue };
            let mut known = vec![
                ("tenant", &tenant.node),
                ("component", &component.node),
                ("cluster", cluster),
                ("fleet", self.fleet),
            ];
            known.extend(part.stage.map(|_| ("stage", own)));
            let over = |low: Node, layer: &Node| merge(&low, &expressions.fill(layer, &known));
            let node = layers.iter().filter(|layer| !layer.entries().is_empty()).fold(own.clone(), over);
            crossings.parts.push(Arc::new(Crossing { part, node }));
        }
        crossings
    }
}

fn has_expression(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(text, _) => text.contains("{{"),
        Value::Seq(items) => items.iter().any(has_expression),
        Value::Map(entries) => entries.iter().any(|entry| has_expression(&entry.node)),
    }
}
