//! The fleet as templates see it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Enumerator, Object, ObjectExt, ObjectRepr};

use super::place::Scope;
use crate::fleet::Fleet;

/// Every word that fleet.yaml knows. In a template such a word is none where nothing was said; any other word is
/// undefined, which is an error.
type Words = Arc<BTreeSet<String>>;

/// The fleet, converted once: what a template sees of a cluster is a shared part of it.
#[derive(Debug)]
pub(super) struct Values {
    /// The fleet.
    pub fleet: Value,
    clusters: Vec<Value>,
    tenants: Vec<TenantValues>,
}

#[derive(Debug)]
struct TenantValues {
    tenant: Value,
    components: Vec<(Value, Vec<Value>)>,
    namespaces: Vec<Value>,
}

impl Values {
    /// Converts a fleet.
    pub(super) fn new(fleet: &Fleet) -> Self {
        let mut json = serde_json::to_value(fleet).expect("the words of a fleet are text, numbers, lists and mappings");
        derive(&mut json, fleet);
        let fleet = value(json, &words());
        let clusters = items(&fleet, "clusters");
        let tenants = items(&fleet, "tenants").into_iter().map(|tenant| {
            let components = items(&tenant, "components");
            let components = components.into_iter().map(|component| {
                let stages = items(&component, "stages");
                (component, stages)
            });
            let (components, namespaces) = (components.collect(), items(&tenant, "namespaces"));
            TenantValues { tenant, components, namespaces }
        });
        Self { clusters, tenants: tenants.collect(), fleet }
    }

    /// What a template sees beside `fleet` where it repeats: `cluster`, `tenant`, `component`, `stage`, `namespace`.
    pub(super) fn context(&self, scope: Scope, siblings: Option<&[String]>) -> Value {
        let tenant = scope.tenant.and_then(|index| self.tenants.get(index));
        let component = tenant.zip(scope.component).and_then(|(tenant, index)| tenant.components.get(index));
        let known = Context {
            cluster: scope.cluster.and_then(|index| self.clusters.get(index)).cloned(),
            tenant: tenant.map(|tenant| tenant.tenant.clone()),
            component: component.map(|(component, _)| component.clone()),
            stage: component.zip(scope.stage).and_then(|((_, stages), index)| stages.get(index)).cloned(),
            namespace: tenant.zip(scope.namespace).and_then(|(tenant, index)| tenant.namespaces.get(index)).cloned(),
            siblings: siblings.map(|names| names.iter().map(String::as_str).map(Value::from).collect()),
        };
        Value::from_object(known)
    }
}

/// Adds to each component whether some cluster leaves it out, which no component can tell by itself.
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

/// The names of all fields in the schema of fleet.yaml.
fn words() -> Words {
    fn collect(schema: &serde_json::Value, words: &mut BTreeSet<String>) {
        match schema {
            serde_json::Value::Object(fields) => {
                if let Some(serde_json::Value::Object(properties)) = fields.get("properties") {
                    words.extend(properties.keys().cloned());
                }
                fields.values().for_each(|field| collect(field, words));
            }
            serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, words)),
            _ => {}
        }
    }
    let mut words = BTreeSet::new();
    collect(schemars::schema_for!(crate::fleet::model::Fleet).as_value(), &mut words);
    Arc::new(words)
}

/// A value that is no part of the fleet.
pub(super) fn of(json: serde_json::Value) -> Value {
    value(json, &Words::default())
}

fn value(json: serde_json::Value, words: &Words) -> Value {
    match json {
        serde_json::Value::Null => Value::from(()),
        serde_json::Value::Bool(bool) => Value::from(bool),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Value::from(whole),
            (None, Some(whole)) => Value::from(whole),
            (None, None) => Value::from(number.as_f64().unwrap_or_default()),
        },
        serde_json::Value::String(text) => Value::from(text),
        serde_json::Value::Array(items) => items.into_iter().map(|item| value(item, words)).collect(),
        serde_json::Value::Object(fields) => {
            let entries: Vec<(Arc<str>, Value)> =
                fields.into_iter().map(|(key, field)| (Arc::from(key), value(field, words))).collect();
            let index = entries.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)).collect();
            Value::from_object(Record { entries, index, words: words.clone() })
        }
    }
}

/// A mapping: its entries in their order, and none for a word of fleet.yaml that was not said.
#[derive(Debug)]
struct Record {
    entries: Vec<(Arc<str>, Value)>,
    index: BTreeMap<Arc<str>, usize>,
    words: Words,
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
            None => self.words.contains(key).then(|| Value::from(())),
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.mapped_enumerator(|this| Box::new(this.entries.iter().map(|(key, _)| Value::from(key.clone()))))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// The variables of one template at one place.
#[derive(Debug)]
struct Context {
    cluster: Option<Value>,
    tenant: Option<Value>,
    component: Option<Value>,
    stage: Option<Value>,
    namespace: Option<Value>,
    siblings: Option<Value>,
}

impl Object for Context {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        match key {
            "cluster" => self.cluster.clone(),
            "tenant" => self.tenant.clone(),
            "component" => self.component.clone(),
            "stage" => self.stage.clone(),
            "namespace" => self.namespace.clone(),
            "siblings" => self.siblings.clone(),
            _ => None,
        }
    }
}
