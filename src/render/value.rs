//! The values of a fleet in templates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::Object;

use super::on_cluster::{self, OnClusters};
use super::place::Scope;
use super::reading::{Read, ReadCluster, Reads};
use super::record::{DERIVED, Record, TenantValues, convert, items, with};
use super::types::Types;
use crate::fleet::{Fleet, Layout};
use crate::text::Index;

/// The fleet, converted once. The values of clusters and tenants are shared parts of it.
#[derive(Debug)]
pub(super) struct Values {
    /// The fleet.
    pub fleet: Value,
    repositories: Vec<Value>,
    environments: Vec<Value>,
    clusters: Vec<ClusterValue>,
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
        let clusters = clusters(json.get_mut("clusters").map(serde_json::Value::take), fleet, &types);
        let fleet_value = convert(json, &types, types.fleet);
        let records = clusters.iter().map(|cluster| Value::from_dyn_object(cluster.record.clone()));
        let fleet_value = with(&fleet_value, "clusters", records.collect());
        let repositories = items(&fleet_value, "repositories");
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
        Self { repositories, environments, clusters, tenants, on_clusters, fleet: fleet_value }
    }

    /// Returns the variables of a scope besides `fleet`, such as `cluster`, `tenant` and `siblings`, and records which of
    /// them a template reads.
    pub(super) fn context(&self, scope: Scope, siblings: Option<&[String]>) -> (Value, Arc<Reads>) {
        let reads = Arc::new(Reads::default());
        let tenant = self.tenant(scope);
        let component = tenant.zip(scope.component).and_then(|(tenant, index)| tenant.components.get(index));
        let cluster = scope.cluster.and_then(|index| self.clusters.get(index));
        let cluster = cluster.map(|cluster| ReadCluster { record: cluster.record.clone(), reads: reads.clone() });
        let known = Context {
            reads: reads.clone(),
            repository: scope.repository.and_then(|index| self.repositories.get(index)).cloned(),
            environment: scope.environment.and_then(|index| self.environments.get(index)).cloned(),
            cluster: cluster.map(Value::from_object),
            tenant: tenant.map(|tenant| tenant.tenant.clone()),
            component: component.map(|(component, _)| component.clone()),
            stage: component.zip(scope.stage).and_then(|((_, stages), index)| stages.get(index)).cloned(),
            namespace: tenant.zip(scope.namespace).and_then(|(tenant, index)| tenant.namespaces.get(index)).cloned(),
            source: tenant.zip(scope.source).and_then(|(tenant, index)| tenant.sources.get(index)).cloned(),
            siblings: siblings.map(|names| names.iter().map(String::as_str).map(Value::from).collect()),
        };
        (Value::from_object(known), reads)
    }

    /// Returns the tenant of a scope, with its settings on the cluster of the scope.
    fn tenant(&self, scope: Scope) -> Option<&TenantValues> {
        let here = scope.cluster.and_then(|cluster| self.on_clusters.get(cluster)?.get(&scope.tenant?));
        here.map(|here| &**here).or_else(|| self.tenants.get(scope.tenant?))
    }

    /// Adds the identity of a value that a template reads: values with equal identities are equal.
    pub(super) fn identity(&self, read: &Read, scope: Scope, key: &mut Vec<Option<usize>>) {
        let tenant = || self.tenant(scope).map(|tenant| std::ptr::from_ref(tenant).addr());
        match read {
            Read::Repository => key.push(scope.repository),
            Read::Environment => key.push(scope.environment),
            Read::Cluster => key.push(scope.cluster),
            Read::ClusterField(name) => {
                let cluster = scope.cluster.and_then(|index| self.clusters.get(index));
                key.push(cluster.and_then(|cluster| cluster.fields.get(name)).copied());
            }
            Read::Tenant => key.push(tenant()),
            Read::Component => key.extend([tenant(), scope.component]),
            Read::Stage => key.extend([tenant(), scope.component, scope.stage]),
            Read::Namespace => key.extend([tenant(), scope.namespace]),
            Read::Source => key.extend([tenant(), scope.source]),
            Read::Siblings => {}
        }
    }
}

/// A cluster as a value.
#[derive(Debug)]
struct ClusterValue {
    record: Arc<Record>,
    /// The ids of the fields that are set. Equal values of a field have equal ids.
    fields: BTreeMap<Arc<str>, usize>,
}

/// Converts the clusters. Clusters with equal values of a field share the value.
fn clusters(json: Option<serde_json::Value>, fleet: &Fleet, types: &Arc<Types>) -> Vec<ClusterValue> {
    let id = types.items(types.entry(types.fleet, "clusters"));
    let mut known: Index<(Arc<str>, String), (usize, Value)> = Index::default();
    let Some(serde_json::Value::Array(clusters)) = json else { return Vec::new() };
    let clusters = clusters.into_iter().zip(on_cluster::components(fleet, types)).map(|(cluster, components)| {
        let (mut entries, mut ids) = (Vec::new(), BTreeMap::new());
        let serde_json::Value::Object(fields) = cluster else { unreachable!("a cluster is a mapping") };
        let fields = fields.into_iter().map(|(key, json)| {
            let key: Arc<str> = key.into();
            let next = known.len();
            let convert = || (next, convert(json.clone(), types, types.entry(id, &key)));
            let field = known.entry_or((key.clone(), json.to_string()), convert).clone();
            (key, field)
        });
        for (key, (value_id, value)) in fields.chain([("components".into(), components)]) {
            ids.insert(key.clone(), value_id);
            entries.push((key, value));
        }
        ClusterValue { record: Arc::new(Record::new(entries, types.clone(), id)), fields: ids }
    });
    clusters.collect()
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
    reads: Arc<Reads>,
    repository: Option<Value>,
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
        let (read, value) = match key {
            "repository" => (Some(Read::Repository), &self.repository),
            "environment" => (Some(Read::Environment), &self.environment),
            // The cluster records its own fields.
            "cluster" => (None, &self.cluster),
            "tenant" => (Some(Read::Tenant), &self.tenant),
            "component" => (Some(Read::Component), &self.component),
            "stage" => (Some(Read::Stage), &self.stage),
            "namespace" => (Some(Read::Namespace), &self.namespace),
            "source" => (Some(Read::Source), &self.source),
            "siblings" => (Some(Read::Siblings), &self.siblings),
            _ => return None,
        };
        if let Some(read) = read {
            self.reads.add(read);
        }
        value.clone()
    }
}
