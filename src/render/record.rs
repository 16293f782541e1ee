//! Parts of a fleet as values of templates.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use minijinja::value::{Enumerator, Object, ObjectExt, ObjectRepr};
use minijinja::{Error, ErrorKind, Value};

use super::types::{FREE, TypeId, Types, Unset};

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

/// Converts a value that is not part of the fleet.
pub(super) fn of(json: serde_json::Value) -> Value {
    static NO_TYPES: LazyLock<Arc<Types>> = LazyLock::new(|| Arc::new(Types::free()));
    convert(json, &NO_TYPES, FREE)
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
    Value::from_object(Record { entries, index, types: record.types.clone(), id: record.id })
}

/// Returns the error of a path of names, such as `source.name`, that a value of the fleet does not have.
pub(super) fn check_path(value: &Value, path: &str) -> Result<(), Error> {
    let mut value = value.clone();
    for name in path.split('.') {
        let Some(record) = value.downcast_object::<Record>() else { break };
        value = record.field(name)?;
    }
    Ok(())
}

/// Converts a value of a type.
pub(super) fn convert(json: serde_json::Value, types: &Arc<Types>, id: TypeId) -> Value {
    match json {
        serde_json::Value::Null => Value::from(()),
        serde_json::Value::Bool(bool) => Value::from(bool),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Value::from(whole),
            (None, Some(whole)) => Value::from(whole),
            (None, None) => Value::from(number.as_f64().unwrap_or_default()),
        },
        serde_json::Value::String(text) => Value::from(text),
        serde_json::Value::Array(items) => {
            let of_items = types.items(id);
            items.into_iter().map(|item| convert(item, types, of_items)).collect()
        }
        serde_json::Value::Object(fields) => {
            let entries = fields.into_iter().map(|(key, field)| {
                let field = convert(field, types, types.entry(id, &key));
                (Arc::from(key), field)
            });
            Value::from_object(Record::new(entries.collect(), types.clone(), id))
        }
    }
}

/// A mapping: its entries in order, and its type, which determines the other names.
#[derive(Debug)]
pub(super) struct Record {
    entries: Vec<(Arc<str>, Value)>,
    index: BTreeMap<Arc<str>, usize>,
    types: Arc<Types>,
    id: TypeId,
}

impl Record {
    pub(super) fn new(entries: Vec<(Arc<str>, Value)>, types: Arc<Types>, id: TypeId) -> Self {
        let index = entries.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)).collect();
        Self { entries, index, types, id }
    }

    fn entry(&self, key: &str) -> Option<Value> {
        self.index.get(key).and_then(|at| self.entries.get(*at)).map(|(_, value)| value.clone())
    }

    /// Returns a field, or the error of a name that the type does not have.
    fn field(&self, key: &str) -> Result<Value, Error> {
        if let Some(value) = self.entry(key) {
            return Ok(value);
        }
        match self.types.missing(self.id, key, self.entries.iter().map(|(key, _)| &**key)) {
            Ok(unset) => Ok(self.unset(&unset)),
            Err(unknown) => Err(Error::new(ErrorKind::UndefinedError, unknown.to_string()).with_source(unknown)),
        }
    }

    fn unset(&self, unset: &Unset) -> Value {
        match unset {
            Unset::None => Value::from(()),
            Unset::Mapping(id) => Value::from_object(Self::new(Vec::new(), self.types.clone(), *id)),
        }
    }
}

impl Object for Record {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    /// Implements `mapping[key]` and `key in mapping`. A name that is neither set nor declared is undefined.
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let key = key.as_str()?;
        self.entry(key).or_else(|| self.types.unset(self.id, key).map(|unset| self.unset(&unset)))
    }

    /// Implements `mapping.key`.
    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        Some(self.field(key).unwrap_or_else(Value::from))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.mapped_enumerator(|this| Box::new(this.entries.iter().map(|(key, _)| Value::from(key.clone()))))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.entries.len())
    }
}
