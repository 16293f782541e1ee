//! The names of the fields that each value of the fleet can have, from the schemas of the resolved types and of `values`.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::base::similar_names::did_you_mean;
use crate::fleet::resolve::fleet::{ClusterComponent, Component, Source};
use crate::fleet::{Fleet, Layout, value_schemas};

/// The type of a value without a schema: any name is accepted.
pub(super) const FREE: TypeId = TypeId(0);
/// The maximum number of types, since the schemas of a layout can have any size. The resolved types need a tenth of it.
const MAX_TYPES: usize = 1_000;
/// The maximum number of references to references in a schema.
const MAX_REFERENCES: usize = 32;
/// The maximum number of schemas that one schema combines.
const MAX_COMBINED: usize = 100;

/// The index of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TypeId(usize);

/// All types of the values of a fleet.
#[derive(Debug)]
pub(super) struct Types {
    all: Vec<Type>,
    /// The type of the fleet.
    pub fleet: TypeId,
    /// The type of a component.
    pub component: TypeId,
    /// The type of a source.
    pub source: TypeId,
    /// The type of the settings of a component on a cluster.
    pub cluster_component: TypeId,
}

#[derive(Debug, Default)]
struct Type {
    /// The name for messages, such as `cluster` or `values.ingress`.
    name: String,
    fields: BTreeMap<String, Field>,
    /// The type of the entries with other names; `None` if there are none.
    others: Option<TypeId>,
    /// The type of the items of a list.
    items: Option<TypeId>,
}

#[derive(Debug, Clone, Copy)]
struct Field {
    id: TypeId,
    /// Whether the field is an empty mapping if it is not set: the free `values`.
    is_mapping: bool,
}

/// The value of a field or entry that is not set.
pub(super) enum Unset {
    /// `none`.
    None,
    /// An empty mapping.
    Mapping(TypeId),
}

/// A name that a type does not have.
#[derive(Debug, thiserror::Error)]
#[error("`{owner}` has no field `{name}`")]
pub(super) struct UnknownField {
    owner: String,
    name: String,
    /// The help.
    pub help: String,
}

impl Types {
    /// Derives the types for the templates of a layout.
    pub(super) fn new(layout: &Layout) -> Self {
        let mut generator = SchemaSettings::draft07().for_serialize().into_generator();
        let references = [
            generator.subschema_for::<Fleet>(),
            generator.subschema_for::<Component>(),
            generator.subschema_for::<Source>(),
            generator.subschema_for::<ClusterComponent>(),
        ]
        .map(schemars::Schema::to_value);
        let root = serde_json::json!({ "definitions": generator.take_definitions(true) });
        let values = value_schemas(layout);
        let free = Type { others: Some(FREE), ..Type::default() };
        let mut reader = Reader { all: vec![free], known: BTreeMap::new(), queue: Vec::new(), values: &values };
        let [fleet, component, source, cluster_component] = references.each_ref().map(|schema| {
            reader.id(String::new(), vec![Part { schema, root: &root, definition: "", is_of_user: false }])
        });
        while let Some((id, parts)) = reader.queue.pop() {
            reader.read(id, &parts);
        }
        Self { all: reader.all, fleet, component, source, cluster_component }
    }

    /// The types of values that are not part of a fleet.
    pub(super) fn free() -> Self {
        let free = Type { others: Some(FREE), ..Type::default() };
        Self { all: vec![free], fleet: FREE, component: FREE, source: FREE, cluster_component: FREE }
    }

    /// Returns the type of an entry of a mapping.
    pub(super) fn entry(&self, owner: TypeId, name: &str) -> TypeId {
        let known = self.get(owner).and_then(|owner| owner.fields.get(name).map(|field| field.id).or(owner.others));
        known.unwrap_or(FREE)
    }

    /// Returns the type of the items of a list.
    pub(super) fn items(&self, list: TypeId) -> TypeId {
        self.get(list).and_then(|list| list.items).unwrap_or(FREE)
    }

    /// Returns the value of a declared field that is not set.
    pub(super) fn unset(&self, owner: TypeId, name: &str) -> Option<Unset> {
        let field = self.get(owner)?.fields.get(name)?;
        Some(if field.is_mapping { Unset::Mapping(field.id) } else { Unset::None })
    }

    /// Returns the value of any name that is not set. `set` are the names of the other entries.
    pub(super) fn missing<'a>(
        &'a self,
        owner: TypeId,
        name: &str,
        set: impl Iterator<Item = &'a str>,
    ) -> Result<Unset, UnknownField> {
        if let Some(unset) = self.unset(owner, name) {
            return Ok(unset);
        }
        let Some(owner) = self.get(owner).filter(|owner| owner.others.is_none()) else { return Ok(Unset::None) };
        let mut names: Vec<&str> = owner.fields.keys().map(String::as_str).chain(set).collect();
        names.sort_unstable();
        names.dedup();
        let help = match did_you_mean(name, names.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if names.is_empty() => "the layout defines no such values; see `values` of layout.yaml".to_owned(),
            None => format!("its fields are: {}", names.join(", ")),
        };
        Err(UnknownField { owner: owner.name.clone(), name: name.to_owned(), help })
    }

    fn get(&self, id: TypeId) -> Option<&Type> {
        self.all.get(id.0)
    }
}

/// A schema that describes a type, alone or with others.
#[derive(Debug, Clone, Copy)]
struct Part<'a> {
    schema: &'a Value,
    /// The document of the schema, for its references.
    root: &'a Value,
    /// The name of the schema in `definitions`, or empty.
    definition: &'a str,
    /// Whether the layout defines the schema.
    is_of_user: bool,
}

impl<'a> Part<'a> {
    fn child(self, schema: &'a Value) -> Self {
        Self { schema, definition: "", ..self }
    }

    /// Follows references; `None` if there is no such schema.
    fn resolve(mut self) -> Option<Self> {
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = self.schema.get("$ref").and_then(Value::as_str) else { return Some(self) };
            let pointer = reference.strip_prefix('#')?;
            self.schema = self.root.pointer(pointer)?;
            self.definition = pointer.strip_prefix("/definitions/").unwrap_or_default();
        }
        None
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self.schema) as usize
    }
}

/// What the schemas of a type say about its fields.
#[derive(Default)]
struct Shape<'a> {
    fields: BTreeMap<&'a str, Vec<Part<'a>>>,
    others: Vec<Part<'a>>,
    items: Vec<Part<'a>>,
    /// Whether a schema accepts any entries.
    is_open: bool,
    /// Whether a schema lists the entries.
    is_closed: bool,
}

struct Reader<'a> {
    all: Vec<Type>,
    known: BTreeMap<Vec<usize>, TypeId>,
    queue: Vec<(TypeId, Vec<Part<'a>>)>,
    /// The schemas of `values`, by the definition that has the field. Empty if the layout has no schemas.
    values: &'a [(&'static str, Value)],
}

impl<'a> Reader<'a> {
    /// Returns the type that schemas describe, any of which a value can match.
    fn id(&mut self, name: String, parts: Vec<Part<'a>>) -> TypeId {
        let Some(mut parts) = parts.into_iter().map(Part::resolve).collect::<Option<Vec<_>>>() else { return FREE };
        parts.sort_by_key(Part::address);
        parts.dedup_by_key(|part| part.address());
        let key: Vec<usize> = parts.iter().map(Part::address).collect();
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        if self.all.len() >= MAX_TYPES {
            return FREE;
        }
        let id = TypeId(self.all.len());
        let definition = parts.iter().find(|part| !part.is_of_user && !part.definition.is_empty());
        let name = definition.map_or(name, |part| lower_first(part.definition));
        self.all.push(Type { name, ..Type::default() });
        self.known.insert(key, id);
        self.queue.push((id, parts));
        id
    }

    fn read(&mut self, id: TypeId, parts: &[Part<'a>]) {
        let mut shape = Shape::default();
        for part in parts {
            shape.add(*part, &mut Vec::new());
        }
        let Some(name) = self.all.get(id.0).map(|own| own.name.clone()) else { return };
        let mut fields = BTreeMap::new();
        for (field, parts) in shape.fields {
            let owner = parts.iter().find(|part| !part.is_of_user).map(|part| part.definition);
            let child = match owner {
                Some(owner) if field == "values" => Field { id: self.values(owner), is_mapping: true },
                Some(_) => {
                    let parts = parts.into_iter().map(|part| part.child(part.schema)).collect();
                    Field { id: self.id(field.to_owned(), parts), is_mapping: false }
                }
                None => Field { id: self.id(format!("{name}.{field}"), parts), is_mapping: false },
            };
            fields.insert(field.to_owned(), child);
        }
        let others = match (shape.is_open, shape.others.is_empty(), shape.is_closed) {
            (false, true, true) => None,
            (false, false, _) => Some(self.id(name.clone(), shape.others)),
            _ => Some(FREE),
        };
        let items = (!shape.items.is_empty()).then(|| self.id(name.clone(), shape.items));
        if let Some(own) = self.all.get_mut(id.0) {
            *own = Type { name, fields, others, items };
        }
    }

    /// Returns the type of the field `values` of a definition.
    fn values(&mut self, definition: &str) -> TypeId {
        let Some((_, schema)) = self.values.iter().find(|(known, _)| *known == definition) else { return FREE };
        self.id("values".to_owned(), vec![Part { schema, root: schema, definition: "", is_of_user: true }])
    }
}

impl<'a> Shape<'a> {
    fn add(&mut self, part: Part<'a>, seen: &mut Vec<usize>) {
        let Some(part) = part.resolve() else {
            self.is_open = true;
            return;
        };
        if seen.len() >= MAX_COMBINED || seen.contains(&part.address()) {
            return;
        }
        seen.push(part.address());
        let Some(schema) = part.schema.as_object() else {
            self.is_open |= part.schema != &Value::Bool(false);
            return;
        };
        let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
        let mut own = Shape::default();
        let properties = schema.get("properties").and_then(Value::as_object);
        own.is_closed = properties.is_some();
        for (name, property) in properties.into_iter().flatten() {
            own.fields.entry(name).or_default().push(Part { schema: property, ..part });
        }
        match schema.get("additionalProperties") {
            None => {}
            Some(Value::Bool(false)) => own.is_closed = true,
            Some(others) => own.others.push(part.child(others)),
        }
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        own.others.extend(patterns.into_iter().flatten().map(|(_, others)| part.child(others)));
        own.items.extend(schema.get("items").filter(|items| items.is_object()).map(|items| part.child(items)));
        own.items.extend(list("items").map(|items| part.child(items)));
        let mut is_combined = false;
        // A field of the type itself replaces the field of the same name in the settings that it includes.
        for member in list("allOf") {
            let mut included = Shape::default();
            included.add(part.child(member), seen);
            own.include(included);
            is_combined = true;
        }
        let mut forms = Shape::default();
        let branches = ["then", "else"].into_iter().filter_map(|keyword| schema.get(keyword));
        for form in list("anyOf").chain(list("oneOf")).chain(branches) {
            forms.add(part.child(form), seen);
            is_combined = true;
        }
        own.include(forms);
        let can_be_mapping = match schema.get("type") {
            None => !is_combined && !schema.contains_key("enum") && !schema.contains_key("const"),
            Some(Value::Array(types)) => types.iter().any(|name| name == "object"),
            Some(name) => name == "object",
        };
        own.is_open |= can_be_mapping && !own.is_closed && own.others.is_empty();
        for (name, parts) in own.fields {
            self.fields.entry(name).or_default().extend(parts);
        }
        self.others.extend(own.others);
        self.items.extend(own.items);
        self.is_open |= own.is_open;
        self.is_closed |= own.is_closed;
    }

    fn include(&mut self, other: Self) {
        for (name, parts) in other.fields {
            self.fields.entry(name).or_insert(parts);
        }
        self.others.extend(other.others);
        self.items.extend(other.items);
        self.is_open |= other.is_open;
        self.is_closed |= other.is_closed;
    }
}

fn lower_first(name: &str) -> String {
    let mut characters = name.trim_end_matches(|character: char| character.is_ascii_digit()).chars();
    characters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(characters).collect()
}
