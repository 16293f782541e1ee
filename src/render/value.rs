//! The values of a fleet in templates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Enumerator, Object, ObjectExt, ObjectRepr};

use super::place::Scope;
use crate::fleet::Fleet;

/// The names of all fields of fleet.yaml. In a template, a field that is not set is `none`. Other names are undefined,
/// which is an error.
type FieldNames = Arc<BTreeSet<String>>;

/// The fleet, converted once. The values of clusters and tenants are shared parts of it.
#[derive(Debug)]
pub(super) struct Values {
    /// The fleet.
    pub fleet: Value,
    environments: Vec<Value>,
    clusters: Vec<Value>,
    tenants: Vec<TenantValues>,
}

#[derive(Debug)]
struct TenantValues {
    tenant: Value,
    components: Vec<(Value, Vec<Value>)>,
    namespaces: Vec<Value>,
    sources: Vec<Value>,
}

impl Values {
    /// Converts a fleet.
    pub(super) fn new(fleet: &Fleet) -> Self {
        let mut json = serde_json::to_value(fleet).expect("a fleet consists of scalars, lists and mappings");
        derive(&mut json, fleet);
        let fleet = value(json, &field_names());
        let environments = items(&fleet, "environments");
        let clusters = items(&fleet, "clusters");
        let tenants = items(&fleet, "tenants").into_iter().map(|tenant| {
            let components = items(&tenant, "components");
            let components = components.into_iter().map(|component| {
                let stages = items(&component, "stages");
                (component, stages)
            });
            let (components, namespaces) = (components.collect(), items(&tenant, "namespaces"));
            TenantValues { sources: items(&tenant, "sources"), tenant, components, namespaces }
        });
        Self { environments, clusters, tenants: tenants.collect(), fleet }
    }

    /// Returns the variables of a scope besides `fleet`, such as `cluster`, `tenant` and `siblings`.
    pub(super) fn context(&self, scope: Scope, siblings: Option<&[String]>) -> Value {
        let tenant = scope.tenant.and_then(|index| self.tenants.get(index));
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

/// Sets `leftOut` of each component: whether a cluster excludes the component.
fn derive(json: &mut serde_json::Value, fleet: &Fleet) {
    let left_out: BTreeSet<(&str, &str)> = fleet
        .clusters
        .iter()
        .flat_map(|cluster| &cluster.without_components)
        .map(|left| (left.tenant.as_str(), left.component.as_str()))
        .collect();
    for (index, tenant) in fleet.tenants.iter().enumerate() {
        for (position, component) in tenant.components.iter().enumerate() {
            let is_left_out = left_out.contains(&(tenant.name.as_str(), component.name.as_str()));
            let pointer = format!("/tenants/{index}/components/{position}");
            let Some(serde_json::Value::Object(fields)) = json.pointer_mut(&pointer) else { continue };
            fields.insert("leftOut".into(), is_left_out.into());
        }
    }
}

fn items(value: &Value, key: &str) -> Vec<Value> {
    value.get_attr(key).and_then(|list| list.try_iter()).map(Iterator::collect).unwrap_or_default()
}

/// Returns the names of all fields in the schema of fleet.yaml.
fn field_names() -> FieldNames {
    fn collect(schema: &serde_json::Value, field_names: &mut BTreeSet<String>) {
        match schema {
            serde_json::Value::Object(fields) => {
                if let Some(serde_json::Value::Object(properties)) = fields.get("properties") {
                    field_names.extend(properties.keys().cloned());
                }
                fields.values().for_each(|field| collect(field, field_names));
            }
            serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, field_names)),
            _ => {}
        }
    }
    let mut field_names = BTreeSet::new();
    collect(schemars::schema_for!(crate::fleet::model::Fleet).as_value(), &mut field_names);
    Arc::new(field_names)
}

/// Converts a value that is not part of the fleet.
pub(super) fn of(json: serde_json::Value) -> Value {
    value(json, &FieldNames::default())
}

fn value(json: serde_json::Value, field_names: &FieldNames) -> Value {
    match json {
        serde_json::Value::Null => Value::from(()),
        serde_json::Value::Bool(bool) => Value::from(bool),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Value::from(whole),
            (None, Some(whole)) => Value::from(whole),
            (None, None) => Value::from(number.as_f64().unwrap_or_default()),
        },
        serde_json::Value::String(text) => Value::from(text),
        serde_json::Value::Array(items) => items.into_iter().map(|item| value(item, field_names)).collect(),
        serde_json::Value::Object(fields) => {
            let entries: Vec<(Arc<str>, Value)> =
                fields.into_iter().map(|(key, field)| (Arc::from(key), value(field, field_names))).collect();
            let index = entries.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)).collect();
            Value::from_object(Record { entries, index, field_names: field_names.clone() })
        }
    }
}

/// A mapping: its entries in order, and `none` for a field of fleet.yaml that is not set.
#[derive(Debug)]
struct Record {
    entries: Vec<(Arc<str>, Value)>,
    index: BTreeMap<Arc<str>, usize>,
    field_names: FieldNames,
}

impl Object for Record {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        match self.index.get(key) {
            Some(at) => self.entries.get(*at).map(|(_, value)| value.clone()),
            None => self.field_names.contains(key).then(|| Value::from(())),
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.mapped_enumerator(|this| Box::new(this.entries.iter().map(|(key, _)| Value::from(key.clone()))))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.entries.len())
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
