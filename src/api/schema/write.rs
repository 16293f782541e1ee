//! Writes a schema as JSON, in the form of `openAPIV3Schema`.

use serde_json::{Map, Value, json};

use super::model::{Additional, Bound, Constraints, Layout, Link, Range, Rule, Schema, Type};

/// The JSON form of a schema. A recursive schema refers to itself with `$ref`.
pub fn to_json(link: &Link) -> Value {
    Writing { open: Vec::new() }.link(link, "#")
}

/// The schemas around the current one, with their JSON pointers.
struct Writing {
    open: Vec<(usize, String)>,
}

impl Writing {
    fn link(&mut self, link: &Link, pointer: &str) -> Value {
        let identity = link.identity();
        if let Some((_, pointer)) = self.open.iter().find(|(open, _)| *open == identity) {
            return json!({ "$ref": pointer });
        }
        self.open.push((identity, pointer.to_string()));
        let value = self.schema(link, pointer);
        self.open.pop();
        value
    }

    fn schema(&mut self, schema: &Schema, pointer: &str) -> Value {
        let mut out = Map::new();
        match schema.value_type {
            Some(Type::IntOrString) => put(&mut out, "x-kubernetes-int-or-string", true),
            Some(kind) => put(&mut out, "type", type_name(kind)),
            None => {}
        }
        put_if(&mut out, "nullable", schema.nullable);
        if let Some(default) = &schema.default {
            out.insert("default".into(), (**default).clone());
        }
        if let Some(constraints) = &schema.constraints {
            self.constraints(&mut out, constraints, pointer);
        }
        if !schema.required.is_empty() {
            out.insert("required".into(), texts(&schema.required));
        }
        if !schema.properties.is_empty() {
            let properties = schema.properties.iter().map(|(name, link)| {
                let escaped = name.replace('~', "~0").replace('/', "~1");
                (name.to_string(), self.link(link, &format!("{pointer}/properties/{escaped}")))
            });
            let properties: Map<String, Value> = properties.collect();
            out.insert("properties".into(), properties.into());
        }
        match &schema.additional {
            Additional::None => {}
            Additional::Any => put(&mut out, "additionalProperties", true),
            Additional::Each(link) => {
                let value = self.link(link, &format!("{pointer}/additionalProperties"));
                out.insert("additionalProperties".into(), value);
            }
        }
        if let Some(link) = &schema.items {
            out.insert("items".into(), self.link(link, &format!("{pointer}/items")));
        }
        let is_list = schema.value_type == Some(Type::Array);
        let layout = if is_list { "x-kubernetes-list-type" } else { "x-kubernetes-map-type" };
        match &schema.layout {
            Layout::Default => {}
            Layout::Atomic => put(&mut out, layout, "atomic"),
            Layout::Granular => put(&mut out, layout, "granular"),
            Layout::Set => put(&mut out, layout, "set"),
            Layout::Map(keys) => {
                put(&mut out, layout, "map");
                out.insert("x-kubernetes-list-map-keys".into(), texts(keys));
            }
        }
        if let Some(key) = &schema.merge_key {
            put(&mut out, "x-kubernetes-patch-merge-key", &**key);
        }
        put_if(&mut out, "x-kubernetes-preserve-unknown-fields", schema.preserves_unknown);
        put_if(&mut out, "x-kubernetes-embedded-resource", schema.embedded);
        out.into()
    }

    fn constraints(&mut self, out: &mut Map<String, Value>, constraints: &Constraints, pointer: &str) {
        if !constraints.enum_values.is_empty() {
            out.insert("enum".into(), constraints.enum_values.to_vec().into());
        }
        for (key, text) in [("format", &constraints.format), ("pattern", &constraints.pattern)] {
            text.iter().for_each(|text| put(out, key, &**text));
        }
        bound(out, "minimum", "exclusiveMinimum", constraints.minimum);
        bound(out, "maximum", "exclusiveMaximum", constraints.maximum);
        if let Some(factor) = constraints.multiple_of {
            out.insert("multipleOf".into(), number(factor));
        }
        range(out, ["minLength", "maxLength"], constraints.length);
        range(out, ["minItems", "maxItems"], constraints.item_count);
        range(out, ["minProperties", "maxProperties"], constraints.property_count);
        put_if(out, "uniqueItems", constraints.unique_items);
        if !constraints.rules.is_empty() {
            let rules: Vec<Value> = constraints.rules.iter().map(rule).collect();
            out.insert("x-kubernetes-validations".into(), rules.into());
        }
        let all = [("allOf", &constraints.all_of), ("anyOf", &constraints.any_of), ("oneOf", &constraints.one_of)];
        for (key, links) in all {
            if !links.is_empty() {
                let each = links.iter().enumerate();
                let each: Vec<Value> =
                    each.map(|(index, link)| self.link(link, &format!("{pointer}/{key}/{index}"))).collect();
                out.insert(key.into(), each.into());
            }
        }
        if let Some(link) = &constraints.not {
            out.insert("not".into(), self.link(link, &format!("{pointer}/not")));
        }
    }
}

fn put(out: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    out.insert(key.into(), value.into());
}

fn put_if(out: &mut Map<String, Value>, key: &str, set: bool) {
    if set {
        put(out, key, true);
    }
}

fn type_name(kind: Type) -> &'static str {
    match kind {
        Type::Object => "object",
        Type::Array => "array",
        Type::String => "string",
        Type::Integer => "integer",
        Type::Number => "number",
        Type::Boolean => "boolean",
        Type::IntOrString => "integer or string",
    }
}

fn texts(texts: &[Box<str>]) -> Value {
    texts.iter().map(|text| Value::from(&**text)).collect::<Vec<_>>().into()
}

fn bound(out: &mut Map<String, Value>, key: &str, exclusive: &str, limit: Option<Bound>) {
    let Some(limit) = limit else { return };
    out.insert(key.into(), number(limit.value));
    put_if(out, exclusive, limit.exclusive);
}

/// A number without a needless fraction.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { (value as i64).into() } else { value.into() }
}

fn range(out: &mut Map<String, Value>, keys: [&str; 2], range: Range) {
    for (key, limit) in keys.into_iter().zip([range.min, range.max]) {
        limit.into_iter().for_each(|limit| put(out, key, limit));
    }
}

fn rule(rule: &Rule) -> Value {
    let mut out = Map::new();
    put(&mut out, "rule", &*rule.rule);
    let texts = [
        ("message", &rule.message),
        ("messageExpression", &rule.message_expression),
        ("reason", &rule.reason),
        ("fieldPath", &rule.field_path),
    ];
    for (key, text) in texts {
        text.iter().for_each(|text| put(&mut out, key, &**text));
    }
    put_if(&mut out, "optionalOldSelf", rule.optional_old_self);
    out.into()
}
