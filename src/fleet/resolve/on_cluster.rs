//! The settings of components on clusters, resolved once for all clusters that share them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::decode::decode;
use super::fleet::{Cluster, ClusterComponent, Component, Override, Tenant};
use crate::base::finding::Finding;
use crate::fleet::merge::crossing::{Crossing, Crossings};
use crate::fleet::model::{Reconcile, SourceOverride};
use crate::fleet::scalar::Raw;
use crate::text::Index;
use crate::yaml::Node;

/// Sets the components of clusters, and the overrides of their sources.
pub(super) struct OnClusters<'a> {
    tenants: Index<&'a str, &'a Tenant>,
    /// The names of the tenants in the merged levels.
    names: Vec<Option<&'a str>>,
    /// Returns whether a part is a dependency of another one, by tenant, component and stage.
    is_dependency: &'a dyn Fn(&str, &str, &str) -> bool,
    /// The resolved components of shared crossings, by address.
    known: BTreeMap<usize, Vec<Arc<ClusterComponent>>>,
}

impl<'a> OnClusters<'a> {
    pub(super) fn new(
        names: Vec<Option<&'a str>>,
        tenants: &'a [Tenant],
        is_dependency: &'a dyn Fn(&str, &str, &str) -> bool,
    ) -> Self {
        let tenants = tenants.iter().map(|tenant| (tenant.name.as_str(), tenant)).collect();
        Self { tenants, names, is_dependency, known: BTreeMap::new() }
    }

    pub(super) fn apply(&mut self, cluster: &mut Cluster, crossings: &Arc<Crossings>, findings: &mut Vec<Finding>) {
        let address = Arc::as_ptr(crossings) as usize;
        if !self.known.contains_key(&address) {
            let parts = crossings.parts.iter().filter_map(|crossing| self.part(crossing, findings));
            let parts = parts.map(Arc::new).collect();
            self.known.insert(address, parts);
        }
        let parts = self.known.get(&address).map(Vec::as_slice).unwrap_or_default();
        let left_out: Index<(&str, &str), ()> = cluster
            .without_components
            .iter()
            .map(|left| ((left.tenant.as_str(), left.component.as_str()), ()))
            .collect();
        let here: Index<&str, ()> = cluster.tenants.iter().map(|tenant| (tenant.as_str(), ())).collect();
        let runs = |tenant: &str, component: &str| here.contains(tenant) && !left_out.contains(&(tenant, component));
        let components = parts.iter().filter(|part| runs(&part.tenant, &part.component)).cloned().collect();
        let mut changed: Vec<Override> = Vec::new();
        for ((tenant, component), node) in &crossings.sources {
            let Some((tenant, component)) = self.component(*tenant, *component) else { continue };
            if !runs(&tenant.name, &component.name) {
                continue;
            }
            let Some(SourceOverride { reference, verify }) = decode(node, findings) else { continue };
            let (source, kind) = (component.source.name.clone(), component.source.kind);
            changed.push(Override { tenant: tenant.name.clone(), source, kind, reference, verify });
        }
        cluster.components = components;
        for change in changed {
            let is_same = |other: &&mut Override| other.tenant == change.tenant && other.source == change.source;
            match cluster.overrides.iter_mut().find(is_same) {
                Some(known) => {
                    known.reference = change.reference.or(known.reference.take());
                    known.verify = change.verify.or(known.verify.take());
                }
                None => cluster.overrides.push(change),
            }
        }
    }

    fn component(&self, tenant: usize, component: usize) -> Option<(&'a Tenant, &'a Component)> {
        let tenant = *self.tenants.get((*self.names.get(tenant)?)?)?;
        Some((tenant, tenant.components.get(component)?))
    }

    fn part(&self, crossing: &Crossing, findings: &mut Vec<Finding>) -> Option<ClusterComponent> {
        let (tenant, component) = self.component(crossing.part.tenant, crossing.part.component)?;
        let stage = match crossing.part.stage {
            Some(stage) => Some(component.stages.get(stage)?),
            None => None,
        };
        let own = stage.map_or(&component.reconcile, |stage| &stage.reconcile);
        let mut settings: Reconcile = decode::<Reconcile>(&crossing.node, findings)?;
        let stage_name = stage.map_or("", |stage| stage.name.as_str());
        let is_dependency = (self.is_dependency)(&tenant.name, &component.name, stage_name);
        settings.wait = settings.wait.or(is_dependency.then_some(true));
        let changes = match (fields(own), fields(&settings)) {
            (Value::Object(own), Value::Object(here)) => changes(&own, &here),
            _ => Map::new(),
        };
        let (tenant, component) = (tenant.name.clone(), component.name.clone());
        let stage = stage.map(|stage| stage.name.clone());
        let is_changed = !changes.is_empty();
        is_changed.then(|| ClusterComponent {
            tenant,
            component,
            stage,
            changes: Raw(Value::Object(changes)),
            settings,
        })
    }
}

/// Returns the names of the tenants whose nodes are complete.
pub(super) fn names<'a>(nodes: impl Iterator<Item = &'a Node>) -> Vec<Option<&'a str>> {
    nodes.map(|node| node.get("name").and_then(Node::text)).collect()
}

fn fields(settings: &Reconcile) -> Value {
    serde_json::to_value(settings).expect("settings consist of scalars, lists and mappings")
}

/// Returns the entries that differ. An entry that is missing in `here` is null.
fn changes(own: &Map<String, Value>, here: &Map<String, Value>) -> Map<String, Value> {
    let mut changed = Map::new();
    for (key, value) in here {
        match (own.get(key), value) {
            (Some(old), _) if old == value => {}
            (Some(Value::Object(old)), Value::Object(new)) => {
                changed.insert(key.clone(), Value::Object(changes(old, new)));
            }
            _ => {
                changed.insert(key.clone(), value.clone());
            }
        }
    }
    for key in own.keys().filter(|key| !here.contains_key(*key)) {
        changed.insert(key.clone(), Value::Null);
    }
    changed
}
