//! The values of tenants on clusters that change their components or sources. Equal values are shared.

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::Value;

use super::record::{TenantValues, convert, items, with};
use super::types::Types;
use crate::fleet::Fleet;
use crate::fleet::resolve::fleet::{Cluster, ClusterComponent, Component, Override, Source, Tenant};
use crate::text::Index;

/// The values of the changed tenants of each cluster, by their indices.
pub(super) type OnClusters = Vec<BTreeMap<usize, Arc<TenantValues>>>;

/// Returns `components` of each cluster, with an id that equal lists share.
pub(super) fn components(fleet: &Fleet, types: &Arc<Types>) -> Vec<(usize, Value)> {
    let mut known: Index<*const ClusterComponent, Value> = Index::default();
    let mut lists: Index<Vec<*const ClusterComponent>, (usize, Value)> = Index::default();
    let mut convert_once = |component: &Arc<ClusterComponent>| {
        let json = || serde_json::to_value(&**component).expect("settings consist of scalars, lists and mappings");
        known.entry_or(Arc::as_ptr(component), || convert(json(), types, types.cluster_component)).clone()
    };
    let clusters = fleet.clusters.iter().map(|cluster| {
        let id = lists.len();
        let convert = || (id, cluster.components.iter().map(&mut convert_once).collect());
        lists.entry_or(cluster.components.iter().map(Arc::as_ptr).collect(), convert).clone()
    });
    clusters.collect()
}

/// Returns the changed tenants of each cluster.
pub(super) fn tenants(fleet: &Fleet, values: &[TenantValues], types: &Arc<Types>) -> OnClusters {
    let by_name: Index<&str, usize> =
        fleet.tenants.iter().enumerate().map(|(at, tenant)| (tenant.name.as_str(), at)).collect();
    let mut known: Index<(usize, Vec<usize>, String), Arc<TenantValues>> = Index::default();
    let mut all = Vec::with_capacity(fleet.clusters.len());
    for cluster in &fleet.clusters {
        let mut changed: BTreeMap<usize, Change<'_>> = BTreeMap::new();
        for component in &cluster.components {
            let Some(at) = by_name.get(component.tenant.as_str()) else { continue };
            changed.entry(*at).or_default().components.push(component);
        }
        for source in &cluster.overrides {
            let Some(at) = by_name.get(source.tenant.as_str()) else { continue };
            changed.entry(*at).or_default().sources.push(source);
        }
        let here = changed.into_iter().filter_map(|(at, change)| {
            let (tenant, base) = (fleet.tenants.get(at)?, values.get(at)?);
            let components = change.components.iter().map(|component| Arc::as_ptr(component) as usize).collect();
            let sources = serde_json::to_string(&change.sources).unwrap_or_default();
            let values = known.entry_or((at, components, sources), || Arc::new(change.of(tenant, base, types)));
            Some((at, values.clone()))
        });
        all.push(here.collect());
    }
    all
}

/// The changes of a tenant on a cluster.
#[derive(Default)]
struct Change<'a> {
    components: Vec<&'a Arc<ClusterComponent>>,
    sources: Vec<&'a Override>,
}

impl Change<'_> {
    fn of(&self, tenant: &Tenant, base: &TenantValues, types: &Arc<Types>) -> TenantValues {
        let components = tenant.components.iter().zip(&base.components);
        let components: Vec<(Value, Vec<Value>)> = components
            .map(|(component, (value, stages))| match self.component(component) {
                Some(changed) => {
                    let json =
                        serde_json::to_value(changed).expect("a component consists of scalars, lists and mappings");
                    let changed = derived(convert(json, types, types.component), value);
                    let stages = items(&changed, "stages");
                    (changed, stages)
                }
                None => (value.clone(), stages.clone()),
            })
            .collect();
        let source = |source: &Source| {
            let json = serde_json::to_value(self.source(source)).expect("a source consists of scalars and mappings");
            convert(json, types, types.source)
        };
        let list: Value = components.iter().map(|(component, _)| component.clone()).collect();
        let mut value = with(&base.tenant, "components", list);
        if !self.sources.is_empty() {
            value = with(&value, "sources", tenant.sources.iter().map(source).collect());
            if let Some(first) = &tenant.source {
                value = with(&value, "source", source(first));
            }
        }
        TenantValues {
            sources: items(&value, "sources"),
            tenant: value,
            components,
            namespaces: base.namespaces.clone(),
        }
    }

    /// Returns a component with its settings on the cluster; `None` if they do not differ.
    fn component(&self, component: &Component) -> Option<Component> {
        let mine: Vec<_> = self.components.iter().filter(|changed| changed.component == component.name).collect();
        let has_source = self.sources.iter().any(|changed| changed.source == component.source.name);
        if mine.is_empty() && !has_source {
            return None;
        }
        let mut changed = component.clone();
        changed.source = self.source(&component.source);
        for part in mine {
            match &part.stage {
                None => changed.reconcile = part.settings.clone(),
                Some(name) => {
                    let stage = changed.stages.iter_mut().find(|stage| &stage.name == name);
                    if let Some(stage) = stage {
                        stage.reconcile = part.settings.clone();
                    }
                }
            }
        }
        Some(changed)
    }

    fn source(&self, source: &Source) -> Source {
        let mut changed = source.clone();
        for change in self.sources.iter().filter(|change| change.source == source.name) {
            changed.reference = change.reference.clone().or(changed.reference.take());
            changed.verify = change.verify.clone().or(changed.verify.take());
        }
        changed
    }
}

/// Returns a component with the fields that are derived for templates.
fn derived(component: Value, base: &Value) -> Value {
    super::record::DERIVED.iter().fold(component, |component, field| match base.get_attr(field) {
        Ok(value) => with(&component, field, value),
        Err(_) => component,
    })
}

/// Returns whether a component substitutes the variables of a cluster, on any cluster.
pub(super) fn substitutes(component: &Component, clusters: &Index<(&str, &str), ()>) -> bool {
    let is_on = |substitute: Option<bool>| substitute == Some(true);
    let own = match component.stages.as_slice() {
        [] => is_on(component.reconcile.substitute),
        stages => stages.iter().any(|stage| is_on(stage.reconcile.substitute)),
    };
    own || clusters.contains(&(component.tenant.as_str(), component.name.as_str()))
}

/// Returns the components that substitute variables because of the settings of a cluster, as tenant and component.
pub(super) fn substituting(clusters: &[Cluster]) -> Index<(&str, &str), ()> {
    let changed = clusters.iter().flat_map(|cluster| &cluster.components);
    let on = changed.filter(|component| component.settings.substitute == Some(true));
    on.map(|component| ((component.tenant.as_str(), component.component.as_str()), ())).collect()
}
