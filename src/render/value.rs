//! The values of a fleet in templates.

use std::collections::BTreeSet;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::Object;

use super::on_cluster::{self, OnClusters};
use super::place::Scope;
use super::record::{DERIVED, TenantValues, convert, items, with};
use super::types::Types;
use crate::fleet::{Fleet, Layout};

/// The fleet, converted once. The values of clusters and tenants are shared parts of it.
#[derive(Debug)]
pub(super) struct Values {
    /// The fleet.
    pub fleet: Value,
    environments: Vec<Value>,
    clusters: Vec<Value>,
    tenants: Vec<TenantValues>,
    /// The tenants with other settings on a cluster.
    on_clusters: OnClusters,
}

impl Values {
    /// Converts a fleet for the templates of a layout.
    pub(super) fn new(fleet: &Fleet, layout: &Layout) -> Self {
        let mut json = serde_json::to_value(fleet).expect("a fleet consists of scalars, lists and mappings");
        derive(&mut json, fleet);
        let types = Arc::new(Types::new(layout));
        let fleet_value = convert(json, &types, types.fleet);
        let changed = on_cluster::components(fleet, &types);
        let clusters: Vec<Value> = items(&fleet_value, "clusters")
            .iter()
            .zip(changed)
            .map(|(cluster, changed)| with(cluster, "components", changed))
            .collect();
        let fleet_value = with(&fleet_value, "clusters", Value::from(clusters.clone()));
        let environments = items(&fleet_value, "environments");
        let tenants = items(&fleet_value, "tenants").into_iter().map(|tenant| {
            let components = items(&tenant, "components");
            let components = components.into_iter().map(|component| {
                let stages = items(&component, "stages");
                (component, stages)
            });
            let (components, namespaces) = (components.collect(), items(&tenant, "namespaces"));
            TenantValues { sources: items(&tenant, "sources"), tenant, components, namespaces }
        });
        let tenants: Vec<TenantValues> = tenants.collect();
        let on_clusters = on_cluster::tenants(fleet, &tenants, &types);
        Self { environments, clusters, tenants, on_clusters, fleet: fleet_value }
    }

    /// Returns the variables of a scope besides `fleet`, such as `cluster`, `tenant` and `siblings`.
    pub(super) fn context(&self, scope: Scope, siblings: Option<&[String]>) -> Value {
        let here = scope.cluster.and_then(|cluster| self.on_clusters.get(cluster)?.get(&scope.tenant?));
        let tenant = here.map(|here| &**here).or_else(|| scope.tenant.and_then(|index| self.tenants.get(index)));
        let component = tenant.zip(scope.component).and_then(|(tenant, index)| tenant.components.get(index));
        let known = Context {
            environment: scope.environment.and_then(|index| self.environments.get(index)).cloned(),
            cluster: scope.cluster.and_then(|index| self.clusters.get(index)).cloned(),
            tenant: tenant.map(|tenant| tenant.tenant.clone()),
            component: component.map(|(component, _)| component.clone()),
            stage: component.zip(scope.stage).and_then(|((_, stages), index)| stages.get(index)).cloned(),
            namespace: tenant.zip(scope.namespace).and_then(|(tenant, index)| tenant.namespaces.get(index)).cloned(),
            source: tenant.zip(scope.source).and_then(|(tenant, index)| tenant.sources.get(index)).cloned(),
            siblings: siblings.map(|names| names.iter().map(String::as_str).map(Value::from).collect()),
        };
        Value::from_object(known)
    }
}

/// Sets the derived fields of each component. `leftOut`: a cluster excludes the component. `substitutes`: the component
/// or one of its stages substitutes the variables of a cluster, on any cluster.
fn derive(json: &mut serde_json::Value, fleet: &Fleet) {
    let left_out: BTreeSet<(&str, &str)> = fleet
        .clusters
        .iter()
        .flat_map(|cluster| &cluster.without_components)
        .map(|left| (left.tenant.as_str(), left.component.as_str()))
        .collect();
    let substituting = on_cluster::substituting(&fleet.clusters);
    for (index, tenant) in fleet.tenants.iter().enumerate() {
        for (position, component) in tenant.components.iter().enumerate() {
            let is_left_out = left_out.contains(&(tenant.name.as_str(), component.name.as_str()));
            let pointer = format!("/tenants/{index}/components/{position}");
            let Some(serde_json::Value::Object(fields)) = json.pointer_mut(&pointer) else { continue };
            let [left_out_key, substitutes] = DERIVED;
            fields.insert(left_out_key.into(), is_left_out.into());
            fields.insert(substitutes.into(), on_cluster::substitutes(component, &substituting).into());
        }
    }
}

/// The variables of a template in a scope.
#[derive(Debug)]
struct Context {
    environment: Option<Value>,
    cluster: Option<Value>,
    tenant: Option<Value>,
    component: Option<Value>,
    stage: Option<Value>,
    namespace: Option<Value>,
    source: Option<Value>,
    siblings: Option<Value>,
}

impl Object for Context {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        match key {
            "environment" => self.environment.clone(),
            "cluster" => self.cluster.clone(),
            "tenant" => self.tenant.clone(),
            "component" => self.component.clone(),
            "stage" => self.stage.clone(),
            "namespace" => self.namespace.clone(),
            "source" => self.source.clone(),
            "siblings" => self.siblings.clone(),
            _ => None,
        }
    }
}
