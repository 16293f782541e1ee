//! The schemas of the free `values` of a layout, as a part of the schemas of fleet.yaml and of its included files.

use serde_json::{Value, json};

use super::layout::Layout;
use crate::schema::close_objects;
use crate::yaml::{Reader, to_json};

/// The levels of the layout's value schemas, by definition.
const VALUES: &[(&str, &str)] = &[
    ("fleet.yaml", "fleet"),
    ("Fleet", "fleet"),
    ("ClusterSettings", "cluster"),
    ("Cluster", "cluster"),
    ("TenantSettings", "tenant"),
    ("Tenant", "tenant"),
    ("Source", "source"),
    ("Reconcile", "component"),
    ("ComponentDefaults", "component"),
    ("Component", "component"),
    ("Stage", "component"),
];

/// Returns the schemas of a layout's `values`, by the definition with the field; empty if the layout has no schemas.
pub fn value_schemas(layout: &Layout) -> Vec<(&'static str, Value)> {
    let Some(levels) = layout.manifest.get("values").filter(|levels| levels.is_map()) else { return Vec::new() };
    let schemas = VALUES.iter().map(|(definition, level)| {
        let own = levels.get(level).filter(|own| own.is_map()).map(|own| to_json(own, Reader::Core));
        (*definition, own.unwrap_or_else(|| json!({"maxProperties": 0, "properties": {}})))
    });
    schemas.collect()
}

/// Adds the schemas of a layout's `values` to the schema of fleet.yaml or of an included file.
pub fn with_values(mut schema: Value, layout: &Layout) -> Value {
    let title = schema.get("title").and_then(Value::as_str).unwrap_or_default().to_owned();
    for (definition, mut own) in value_schemas(layout) {
        // The levels merge, so a required value can be set at another level.
        without_required(&mut own);
        close_objects(&mut own);
        let root = (title == definition).then(String::new);
        for place in root.into_iter().chain([format!("/definitions/{definition}")]) {
            let Some(values) = schema.pointer_mut(&format!("{place}/properties/values")) else { continue };
            let (Some(values), Some(own)) = (values.as_object_mut(), own.as_object()) else { continue };
            values.shift_remove("examples");
            values.extend(own.clone());
        }
    }
    schema
}

fn without_required(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(without_required),
        Value::Object(object) => {
            if object.get("required").is_some_and(Value::is_array) {
                object.shift_remove("required");
            }
            object.values_mut().for_each(without_required);
        }
        _ => {}
    }
}
