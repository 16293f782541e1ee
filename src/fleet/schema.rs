//! The JSON Schemas of fleet.yaml and of the files it includes, generated from the words.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::layout::MANIFEST;
use super::load::INVALID_FLEET;
use super::{model, words};
use crate::schema::{Checker, publish};
use crate::text::Tree;
use crate::yaml::Reader;

/// The schema of fleet.yaml.
pub fn schema() -> Value {
    published::<model::Fleet>("fleet", "fleet.yaml", "A fleet of Kubernetes clusters that Flux reconciles.")
}

/// The schema of an included file with clusters.
pub fn cluster_schema() -> Value {
    published::<model::Cluster>("cluster", "Cluster", "A cluster of a fleet, in a file that fleet.yaml includes.")
}

/// The schema of an included file with tenants.
pub fn tenant_schema() -> Value {
    published::<model::Tenant>("tenant", "Tenant", "A tenant of a fleet, in a file that fleet.yaml includes.")
}

pub(super) static FLEET: LazyLock<Checker> = LazyLock::new(|| checker(schema()));
pub(super) static CLUSTER: LazyLock<Checker> = LazyLock::new(|| checker(cluster_schema()));
pub(super) static TENANT: LazyLock<Checker> = LazyLock::new(|| checker(tenant_schema()));

fn checker(schema: Value) -> Checker {
    Checker::new(schema, INVALID_FLEET, words::WORDS)
}

fn published<T: JsonSchema>(name: &str, title: &str, description: &str) -> Value {
    let mut schema = publish::<T>(name, title, description);
    let defaults = layout_defaults(&crate::assets::templates());
    for (definition, level) in [
        ("Flux", "flux"),
        ("ClusterSettings", "cluster"),
        ("Cluster", "cluster"),
        ("TenantSettings", "tenant"),
        ("Tenant", "tenant"),
    ] {
        let Some(values) = defaults.get(level).and_then(Value::as_object) else { continue };
        if let Some(object) = schema.pointer_mut(&format!("/definitions/{definition}")) {
            fill(object, values);
        }
        if schema.get("title").and_then(Value::as_str) == Some(definition) {
            fill(&mut schema, values);
        }
    }
    schema
}

/// The defaults of the default layout, so that editors show what happens when a field is left out.
fn layout_defaults(templates: &Tree) -> Value {
    let Ok(file) = templates.file(&format!("{}/{MANIFEST}", model::DEFAULT_LAYOUT)) else { return Value::Null };
    let parsed = crate::yaml::parse(&file);
    let defaults = parsed.documents.first().and_then(|document| document.node.get("defaults"));
    defaults.map_or(Value::Null, |node| crate::yaml::to_json(node, Reader::Core))
}

fn fill(object: &mut Value, defaults: &Map<String, Value>) {
    let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (key, value) in defaults {
        // An expression is evaluated for each cluster and tenant: an editor that inserted it would be wrong.
        if value.to_string().contains("{{") {
            continue;
        }
        if let Some(property) = properties.get_mut(key).and_then(Value::as_object_mut) {
            property.insert("default".into(), value.clone());
        }
    }
}
