//! The `OpenAPI` documents of Kubernetes: one for each version of a group.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use fleetwright::api::catalog::pack::Packer;
use fleetwright::api::schema::{Link, Numbered, Schema, read_with};
use fleetwright::kube::Scope;
use fleetwright::text::File;
use fleetwright::yaml::from_json;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{Error, files};

const REFERENCE: &str = "#/components/schemas/";

/// Adds the kinds of a release.
pub(crate) fn add(folder: &Path, packer: &mut Packer) -> Result<(), Error> {
    let mut types = BTreeMap::new();
    let mut kinds = BTreeMap::new();
    let enums: Value = serde_json::from_str(&fs::read_to_string(folder.join("enums.json"))?)?;
    for path in files(folder)?.into_iter().filter(|path| !path.ends_with("enums.json")) {
        let mut document: Value = serde_json::from_str(&fs::read_to_string(&path)?)?;
        if let Some(Value::Object(found)) = document.pointer_mut("/components/schemas") {
            types.extend(std::mem::take(found).into_iter().map(|(name, schema)| (name, simplify(schema))));
        }
        for (path, methods) in document["paths"].as_object().into_iter().flatten() {
            kinds.extend(kind(path, methods));
        }
    }
    for (name, schema) in &mut types {
        enumerate(schema, name, &enums);
    }
    let types = Types::new(&types);
    for ((group, version, kind), (plural, scope, name)) in kinds {
        let Some((_, schema)) = types.find(&name) else { return Err(format!("{kind}: no type {name}").into()) };
        packer.kind([&group, &version, &kind], &plural, scope, &schema, &|number| types.get(number));
    }
    Ok(())
}

type Id = (String, String, String);
type Resource = (String, Scope, String);

/// The kind that a path creates: `/apis/apps/v1/namespaces/{namespace}/deployments`.
fn kind(path: &str, methods: &Value) -> Option<(Id, Resource)> {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let (scope, plural) = match *parts.as_slice() {
        ["api", _, plural] | ["apis", _, _, plural] => (Scope::Cluster, plural),
        ["api", _, "namespaces", "{namespace}", plural] | ["apis", _, _, "namespaces", "{namespace}", plural] => {
            (Scope::Namespaced, plural)
        }
        _ => return None,
    };
    let create = methods.get("post")?;
    let id = create.get("x-kubernetes-group-version-kind")?;
    let text = |key: &str| Some(id.get(key)?.as_str()?.to_string());
    let body = create.pointer("/requestBody/content")?.as_object()?.values().next()?;
    let name = body.pointer("/schema/$ref")?.as_str()?.strip_prefix(REFERENCE)?;
    Some(((text("group")?, text("version")?, text("kind")?), (plural.to_string(), scope, name.to_string())))
}

/// Adds the values of enumerations to the fields of a type.
fn enumerate(schema: &mut Value, name: &str, enums: &Value) {
    let parts: Vec<&str> = name.rsplitn(4, '.').take(3).collect();
    let [kind, version, group] = parts.as_slice() else { return };
    for (place, values) in enums[format!("{group}.{version}.{kind}")].as_object().into_iter().flatten() {
        let is_required = schema["required"].as_array().is_some_and(|required| required.contains(&json!(place)));
        let mut values = values.as_array().cloned().unwrap_or_default();
        let field = match place.strip_suffix("[]") {
            Some(list) => schema.pointer_mut(&format!("/properties/{list}/items")),
            None => schema.pointer_mut(&format!("/properties/{place}")),
        };
        if !is_required && !place.ends_with("[]") && !values.contains(&json!("")) {
            // The API server reads an empty text as an unset field.
            values.push(json!(""));
        }
        if let Some(Value::Object(field)) = field {
            field.insert("enum".into(), values.into());
        }
    }
}

/// Returns a schema in the form of a CRD's, except for its references.
fn simplify(schema: Value) -> Value {
    let Value::Object(mut fields) = schema else { return schema };
    if let Some([only]) = fields.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
        return json!({ "$ref": only["$ref"] });
    }
    if fields.contains_key("$ref") {
        return Value::Object(fields);
    }
    if fields.get("format").is_some_and(|format| format == "int-or-string") {
        return json!({ "x-kubernetes-int-or-string": true, "nullable": true });
    }
    if let Some(alternatives) = fields.get("oneOf") {
        // The only other type with alternatives.
        assert_eq!(alternatives, &json!([{ "type": "string" }, { "type": "number" }]));
        return json!({ "anyOf": alternatives, "format": "quantity", "nullable": true });
    }
    // The API server accepts null as an unset field.
    fields.insert("nullable".into(), true.into());
    // Zero values of Go.
    fields.retain(|key, value| key != "default" || ![json!(""), json!(0), json!(false), json!({})].contains(value));
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.values_mut().for_each(|value| *value = simplify(value.take()));
    }
    for key in ["items", "additionalProperties"] {
        if let Some(value) = fields.get_mut(key) {
            *value = simplify(value.take());
        }
    }
    let is_declared = ["properties", "additionalProperties"].iter().any(|key| fields.contains_key(*key));
    if fields.get("type").is_none_or(|kind| kind == "object") && !is_declared {
        fields.insert("x-kubernetes-preserve-unknown-fields".into(), true.into());
    }
    for key in ["description", "x-kubernetes-group-version-kind", "x-kubernetes-unions"] {
        fields.remove(key);
    }
    Value::Object(fields)
}

/// The types of a release.
struct Types {
    names: Vec<String>,
    schemas: BTreeMap<String, (String, Schema)>,
}

impl Types {
    fn new(types: &BTreeMap<String, Value>) -> Self {
        let names: Vec<String> = types.keys().cloned().collect();
        let file = File::new("types", "");
        let refer = |reference: &str| {
            let name = reference.strip_prefix(REFERENCE)?;
            let index = names.binary_search_by(|known| known.as_str().cmp(name)).ok()?;
            Some(Link::numbered(&Placeholder, u32::try_from(index).ok()?))
        };
        let read = |name: &String, schema: &Value| {
            let (read, mistakes) = read_with(&from_json(schema, &file.first_line()), &refer);
            assert!(mistakes.is_empty(), "{name}: {mistakes:?}");
            (identity(name, types), read)
        };
        let schemas = types.iter().map(|(name, schema)| (name.clone(), read(name, schema))).collect();
        Self { names, schemas }
    }

    fn find(&self, name: &str) -> Option<(String, Schema)> {
        self.schemas.get(name).cloned()
    }

    fn get(&self, number: u32) -> (String, Schema) {
        self.find(&self.names[number as usize]).expect("each number is the index of a name")
    }
}

/// The digest of a type and of all types that it references.
fn identity(name: &str, types: &BTreeMap<String, Value>) -> String {
    let mut reached = BTreeSet::new();
    let mut open = vec![name.to_string()];
    while let Some(name) = open.pop() {
        if reached.insert(name.clone()) {
            references(&types[&name], &mut open);
        }
    }
    let mut digest = Sha256::new_with_prefix(name);
    for name in &reached {
        digest.update(format!("{name} {}", types[name]));
    }
    format!("{name} {:x?}", digest.finalize())
}

fn references(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            let name = fields.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix(REFERENCE));
            found.extend(name.map(str::to_string));
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

/// Stands for the types until the packer resolves their numbers.
#[derive(Debug)]
struct Placeholder;

impl Numbered for Placeholder {
    fn schema(&'static self, _: u32) -> &'static Schema {
        unreachable!("the packer resolves numbers")
    }
}
