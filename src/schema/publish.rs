//! The JSON Schema that the project publishes for a Rust type.

use serde_json::Value;

/// Generates the published schema of a type.
///
/// The schema uses draft 7, which the YAML language server supports best. Objects are closed: an unknown field is an
/// error. No value is nullable; an optional field is absent.
pub fn publish<T: schemars::JsonSchema>(title: &str, description: &str) -> Value {
    let generator = schemars::generate::SchemaSettings::draft07().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    normalize(&mut schema);
    if let Some(root) = schema.as_object_mut() {
        root.insert("title".into(), title.into());
        root.insert("description".into(), description.into());
    }
    schema
}

/// Closes objects, removes null types, and converts lists of constants to enumerations.
fn normalize(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(normalize),
        Value::Object(object) => {
            let examples = object.shift_remove("examples");
            drop_null(object);
            constants_to_enum(object);
            if object.contains_key("properties") && !object.contains_key("additionalProperties") {
                object.insert("additionalProperties".into(), Value::Bool(false));
            }
            object.values_mut().for_each(normalize);
            if let Some(examples) = examples {
                object.insert("examples".into(), examples);
            }
        }
        _ => {}
    }
}

/// Closes objects: an object with `properties` accepts no other properties by default.
pub fn close_objects(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(close_objects),
        Value::Object(object) => {
            if object.get("properties").is_some_and(Value::is_object) && !object.contains_key("additionalProperties") {
                object.insert("additionalProperties".into(), Value::Bool(false));
            }
            object.values_mut().for_each(close_objects);
        }
        _ => {}
    }
}

fn drop_null(object: &mut serde_json::Map<String, Value>) {
    if object.get("default").is_some_and(|default| {
        default.is_null()
            || default.as_object().is_some_and(serde_json::Map::is_empty)
            || default == &Value::Array(vec![])
    }) {
        object.shift_remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(options)) = object.get_mut("enum") {
        options.retain(|option| !option.is_null());
    }
    let Some(Value::Array(mut forms)) = object.shift_remove("anyOf") else { return };
    forms.retain(|form| form.get("type").and_then(Value::as_str) != Some("null"));
    let keyword = if forms.len() == 1 { "allOf" } else { "anyOf" };
    object.insert(keyword.into(), Value::Array(forms));
}

fn constants_to_enum(object: &mut serde_json::Map<String, Value>) {
    let Some(Value::Array(forms)) = object.get("oneOf") else { return };
    let constants: Option<Vec<Value>> = forms.iter().map(|form| form.get("const").cloned()).collect();
    let Some(constants) = constants else { return };
    object.shift_remove("oneOf");
    object.insert("type".into(), "string".into());
    object.insert("enum".into(), Value::Array(constants));
}
