//! The JSON Schemas of fleet.yaml and of its included files, generated from the model.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde_json::{Map, Value};

use crate::fleet::model::MANIFEST;
use crate::fleet::rule_ids::{INVALID_FLEET, INVALID_LAYOUT};
use crate::fleet::{formats, model};
use crate::schema::{Checker, publish};
use crate::text::Tree;
use crate::yaml::Reader;

/// Returns the schema of fleet.yaml.
pub fn schema() -> Value {
    published::<model::Fleet>("fleet.yaml", "A fleet of Kubernetes clusters that Flux reconciles.")
}

/// Returns the schema of an included file with clusters.
pub fn cluster_schema() -> Value {
    published::<model::Cluster>("Cluster", "A cluster of a fleet, in a file that fleet.yaml includes.")
}

/// Returns the schema of an included file with tenants.
pub fn tenant_schema() -> Value {
    published::<model::Tenant>("Tenant", "A tenant of a fleet, in a file that fleet.yaml includes.")
}

/// Returns the schema of layout.yaml.
pub fn layout_schema() -> Value {
    let mut schema = publish::<model::LayoutFile>("layout.yaml", "The settings of a layout.");
    // A default value can be an expression, so its format is checked after the evaluation.
    accept_expressions(&mut schema);
    schema
}

fn accept_expressions(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(accept_expressions),
        Value::Object(object) => {
            for keyword in ["pattern", "format"] {
                if object.get(keyword).is_some_and(Value::is_string) {
                    object.shift_remove(keyword);
                }
            }
            object.values_mut().for_each(accept_expressions);
        }
        _ => {}
    }
}

pub(super) static LAYOUT: LazyLock<Checker> =
    LazyLock::new(|| Checker::new(layout_schema(), INVALID_LAYOUT, formats::WORDS));
pub(super) static FLEET: LazyLock<Checker> = LazyLock::new(|| checker(schema()));
pub(super) static CLUSTER: LazyLock<Checker> = LazyLock::new(|| checker(cluster_schema()));
pub(super) static TENANT: LazyLock<Checker> = LazyLock::new(|| checker(tenant_schema()));

fn checker(schema: Value) -> Checker {
    Checker::new(schema, INVALID_FLEET, formats::WORDS)
}

/// The places of the layout's defaults: definition, JSON pointer below `defaults`.
const LEVELS: &[(&str, &str)] = &[
    ("Flux", "/flux"),
    ("Operator", "/flux/operator"),
    ("Tuning", "/flux/tuning"),
    ("Limits", "/flux/tuning/limits"),
    ("HelmCache", "/flux/tuning/helmCache"),
    ("ClusterSettings", "/cluster"),
    ("Cluster", "/cluster"),
    ("ObjectMetadata", "/cluster/runtimeInfoMetadata"),
    ("TenantSettings", "/tenant"),
    ("Tenant", "/tenant"),
    ("ImageAutomation", "/tenant/imageAutomation"),
    ("Source", "/source"),
];

fn published<T: JsonSchema>(title: &str, description: &str) -> Value {
    let mut schema = publish::<T>(title, description);
    let defaults = layout_defaults(&crate::assets::templates());
    for (definition, level) in LEVELS {
        let Some(values) = defaults.pointer(level).and_then(Value::as_object) else { continue };
        if let Some(object) = schema.pointer_mut(&format!("/definitions/{definition}")) {
            fill(object, values);
        }
        // The schema of an included file is the definition itself.
        if title == *definition {
            fill(&mut schema, values);
        }
    }
    schema
}

/// Returns the defaults of the default layout, so that editors show them.
fn layout_defaults(templates: &Tree) -> Value {
    let Ok(file) = templates.file(&format!("{}/{MANIFEST}", model::DEFAULT_LAYOUT)) else { return Value::Null };
    let parsed = crate::yaml::parse(&file);
    let defaults = parsed.documents.first().and_then(|document| document.node.get("defaults"));
    defaults.map_or(Value::Null, |node| crate::yaml::to_json(node, Reader::Core))
}

fn fill(object: &mut Value, defaults: &Map<String, Value>) {
    let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (key, value) in defaults {
        // An expression is evaluated for each cluster and tenant, so an editor must not insert it.
        if value.to_string().contains("{{") {
            continue;
        }
        if let Some(property) = properties.get_mut(key).and_then(Value::as_object_mut) {
            property.insert("default".into(), value.clone());
        }
    }
}
