//! Parts of a fleet as values of templates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Enumerator, Object, ObjectExt, ObjectRepr};

/// The names of all fields of fleet.yaml. In a template, a field that is not set is `none`. Other names are undefined,
/// which is an error.
pub(super) type FieldNames = Arc<BTreeSet<String>>;

/// The values of a tenant.
#[derive(Debug)]
pub(super) struct TenantValues {
    /// The tenant.
    pub tenant: Value,
    /// The components, each with its stages.
    pub components: Vec<(Value, Vec<Value>)>,
    /// The namespaces.
    pub namespaces: Vec<Value>,
    /// The sources.
    pub sources: Vec<Value>,
}

/// The fields of a component that are derived for templates.
pub(super) const DERIVED: [&str; 2] = ["leftOut", "substitutes"];

pub(super) fn items(value: &Value, key: &str) -> Vec<Value> {
    value.get_attr(key).and_then(|list| list.try_iter()).map(Iterator::collect).unwrap_or_default()
}

/// Returns the names of all fields in the schema of fleet.yaml.
pub(super) fn field_names() -> FieldNames {
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

/// Converts a part of the fleet.
pub(super) fn convert(json: serde_json::Value, field_names: &FieldNames) -> Value {
    value(json, field_names)
}

/// Returns a mapping of the fleet with a key set; the other values are shared.
pub(super) fn with(record: &Value, key: &str, value: Value) -> Value {
    let Some(record) = record.downcast_object_ref::<Record>() else { return record.clone() };
    let mut entries = record.entries.clone();
    let mut index = record.index.clone();
    if let Some((_, old)) = record.index.get(key).and_then(|at| entries.get_mut(*at)) {
        *old = value;
    } else {
        index.insert(Arc::from(key), entries.len());
        entries.push((Arc::from(key), value));
    }
    Value::from_object(Record { entries, index, field_names: record.field_names.clone() })
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
