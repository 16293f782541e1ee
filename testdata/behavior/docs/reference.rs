//! The reference page of an input file: every setting with its levels, its default and an example.

use std::fmt::Write as _;

use fleetwright::text::File;
use fleetwright::yaml::{from_json, print};
use serde_json::{Map, Value};

/// A setting, with all places at which it can be set.
struct Setting {
    name: String,
    schema: Value,
    levels: Vec<String>,
}

/// The settings of one type, in the order of the schema.
struct Section {
    /// The name of the type in the schema; empty for the document.
    definition: String,
    description: String,
    settings: Vec<Setting>,
}

/// Returns the page of a schema. The page omits what is inside of the settings in `elsewhere`.
pub(super) fn page(title: &str, schema: &Value, elsewhere: &[&str]) -> String {
    let mut walk = Walk { root: schema, elsewhere, sections: Vec::new() };
    walk.object(schema, "", "", &mut Vec::new());
    let mut text = format!("# {title}\n\n{}\n", description(schema));
    let types: Vec<(usize, &Section)> =
        walk.sections.iter().enumerate().filter(|(_, section)| !section.settings.is_empty()).collect();
    text += "\n";
    for (at, section) in &types {
        let _ = writeln!(text, "- [{0}](#{1})", heading(title, section, *at), anchor(&heading(title, section, *at)));
    }
    for (at, section) in types {
        let _ = writeln!(text, "\n## {}\n", heading(title, section, at));
        if at > 0 && !section.description.is_empty() {
            let _ = writeln!(text, "{}\n", section.description);
        }
        for setting in &section.settings {
            write_setting(&mut text, setting, schema);
        }
    }
    // All settings of such a type are settings of other types too, so it has no section.
    let has_section =
        |name: &String| walk.sections.iter().any(|one| one.definition == *name && !one.settings.is_empty());
    let names = schema.get("definitions").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    for name in names.filter(|name| !has_section(name)) {
        text = text.replace(&format!("[{name}](#{})", anchor(name)), "mapping");
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn heading(title: &str, section: &Section, at: usize) -> String {
    if at == 0 { format!("The fields of {title}") } else { section.definition.clone() }
}

fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    kept.chars()
        .filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-')
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

fn write_setting(text: &mut String, setting: &Setting, root: &Value) {
    let schema = &setting.schema;
    let _ = writeln!(text, "### {}\n\n{}\n", setting.name, description(schema));
    let _ = writeln!(text, "- Type: {}", kind(schema, root));
    if let Some(default) = schema.get("default") {
        let _ = writeln!(text, "- Default: `{default}`");
    }
    let levels: Vec<String> = setting.levels.iter().map(|level| format!("`{level}`")).collect();
    let _ = writeln!(text, "- Set at: {}\n", levels.join(", "));
    if let Some(example) = schema.get("examples").and_then(|examples| examples.get(0)) {
        let name = setting.levels.first().and_then(|level| level.rsplit('.').next()).unwrap_or(&setting.name);
        let pair = Value::Object(Map::from_iter([(name.to_owned(), example.clone())]));
        let node = from_json(&pair, &File::new("", "").first_line());
        let _ = writeln!(text, "```yaml\n{}```\n", print(&[node]));
    }
}

fn description(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

/// Returns the name of a type for readers.
fn kind(schema: &Value, root: &Value) -> String {
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        let options: Vec<String> = options.iter().map(|option| format!("`{}`", plain(option))).collect();
        return format!("one of {}", options.join(", "));
    }
    if let Some(reference) = reference(schema) {
        let target = root.get("definitions").and_then(|all| all.get(reference));
        if let Some(target) = target.filter(|target| target.get("properties").is_none()) {
            return kind(target, root);
        }
        return format!("[{reference}](#{})", anchor(reference));
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    match types.as_slice() {
        ["array"] => {
            format!("list of {}", schema.get("items").map_or_else(|| "values".into(), |items| kind(items, root)))
        }
        ["object"] => {
            let values =
                ["additionalProperties", "patternProperties"].into_iter().find_map(|key| match schema.get(key)? {
                    Value::Object(fields) if key == "patternProperties" => fields.values().next(),
                    value @ Value::Object(_) => Some(value),
                    _ => None,
                });
            values.map_or_else(|| "mapping".into(), |values| format!("mapping of names to {}", kind(values, root)))
        }
        [] if schema.get("anyOf").is_some() => {
            let forms = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
            forms.map(|form| kind(form, root)).collect::<Vec<_>>().join(", or ")
        }
        [] => "any value".into(),
        names => names.join(" or "),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the name of the definition that a schema references.
fn reference(schema: &Value) -> Option<&str> {
    let direct = schema.get("$ref");
    let wrapped = || schema.get("allOf")?.get(0)?.get("$ref");
    direct.or_else(wrapped)?.as_str()?.strip_prefix("#/definitions/")
}

struct Walk<'a> {
    root: &'a Value,
    /// The settings with a reference of their own.
    elsewhere: &'a [&'a str],
    sections: Vec<Section>,
}

impl<'a> Walk<'a> {
    /// Visits the properties of an object at a path. `open` has the definitions on the way, so that recursion ends.
    fn object(&mut self, schema: &'a Value, definition: &str, path: &str, open: &mut Vec<&'a str>) {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
        let at = self.section(definition, schema);
        for (name, property) in properties {
            let level = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            self.record(at, name, property, &level);
        }
        for (name, property) in properties {
            let level = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            self.values(property, &level, open);
        }
    }

    /// Visits the objects in a value: its definition, its items, and the values of a mapping.
    fn values(&mut self, schema: &'a Value, path: &str, open: &mut Vec<&'a str>) {
        if self.elsewhere.contains(&path) {
            return;
        }
        if let Some(name) = reference(schema) {
            if open.contains(&name) {
                return;
            }
            let Some(target) = self.root.get("definitions").and_then(|all| all.get(name)) else { return };
            open.push(name);
            self.object(target, name, path, open);
            for form in target.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
                self.values(form, path, open);
            }
            open.pop();
            return;
        }
        if let Some(items) = schema.get("items") {
            self.values(items, &format!("{path}[]"), open);
        }
        for form in schema.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
            self.values(form, path, open);
        }
        if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) {
            self.values(values, &format!("{path}.NAME"), open);
        }
        for values in schema.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::values) {
            self.values(values, &format!("{path}.NAME"), open);
        }
        if schema.get("properties").is_some() {
            self.object(schema, path, path, open);
        }
    }

    fn section(&mut self, definition: &str, schema: &Value) -> usize {
        if let Some(at) = self.sections.iter().position(|section| section.definition == definition) {
            return at;
        }
        let description = description(schema).to_owned();
        self.sections.push(Section { definition: definition.to_owned(), description, settings: Vec::new() });
        self.sections.len() - 1
    }

    /// Adds a level to a setting. A setting with the same name and description is the same setting.
    fn record(&mut self, at: usize, name: &str, property: &Value, level: &str) {
        let is_same = |setting: &Setting| setting.name == name && description(&setting.schema) == description(property);
        let known = self.sections.iter_mut().flat_map(|section| &mut section.settings).find(|setting| is_same(setting));
        if let Some(setting) = known {
            if !setting.levels.iter().any(|other| other == level) {
                setting.levels.push(level.to_owned());
            }
        } else {
            let setting = Setting { name: name.to_owned(), schema: property.clone(), levels: vec![level.to_owned()] };
            self.sections[at].settings.push(setting);
        }
    }
}
