//! Reads the schema of a `CustomResourceDefinition`: `spec.versions[].schema.openAPIV3Schema`.

use super::fields::{count, is_true, number, texts};
use super::model::{Additional, Bound, Constraints, Layout, Link, Rule, Schema, Type};
use super::structural::{Level, Mistake, Patterns, check};
use crate::text::Span;
use crate::yaml::{Entry, Node, Reader, Scalar, to_json};

/// The maximum number of schemas in one schema, including itself. A CRD that fits into etcd has fewer.
const MAX_SCHEMAS: usize = 200_000;
/// The maximum nesting of schemas.
const MAX_DEPTH: usize = 100;
/// The maximum number of mistakes that are reported.
const MAX_MISTAKES: usize = 20;

/// Reads a schema, with its mistakes. A schema with mistakes accepts more than the API server.
pub fn read(node: &Node) -> (Schema, Vec<Mistake>) {
    let mut reading = Reading { refer: None, schemas: 0, patterns: Patterns::default(), mistakes: Vec::new() };
    let schema = reading.schema(node, Level::Root, 0);
    (schema, reading.mistakes)
}

/// Reads a schema of another source, in which `$ref` has a meaning: the link that `refer` returns.
pub fn read_with(node: &Node, refer: &Refer<'_>) -> (Schema, Vec<Mistake>) {
    let mut reading = Reading { refer: Some(refer), schemas: 0, patterns: Patterns::default(), mistakes: Vec::new() };
    let schema = reading.schema(node, Level::Root, 0);
    (schema, reading.mistakes)
}

/// Returns the link that a `$ref` means.
pub type Refer<'a> = dyn Fn(&str) -> Option<Link> + 'a;

/// The state of a reader.
struct Reading<'a> {
    /// The meaning of `$ref`; `None` for a `CustomResourceDefinition`, which must not have one.
    refer: Option<&'a Refer<'a>>,
    schemas: usize,
    patterns: Patterns,
    mistakes: Vec<Mistake>,
}

impl Reading<'_> {
    fn link(&mut self, node: &Node, level: Level, depth: usize) -> Link {
        let reference = self.refer.and_then(|refer| refer(node.get("$ref")?.text()?));
        reference.unwrap_or_else(|| Link::new(self.schema(node, level, depth)))
    }

    fn schema(&mut self, node: &Node, level: Level, depth: usize) -> Schema {
        let mut schema = Schema::default();
        self.schemas += 1;
        if depth == MAX_DEPTH || self.schemas > MAX_SCHEMAS {
            if depth == MAX_DEPTH || self.schemas == MAX_SCHEMAS + 1 {
                self.mistake(node.span(), "the schema is too large, so its deeper fields are not checked".into());
            }
            schema.preserves_unknown = true;
            return schema;
        }
        if !node.is_map() {
            self.mistake(node.span(), "a schema must be a mapping".into());
            schema.preserves_unknown = true;
            return schema;
        }
        if self.refer.is_none() {
            for Mistake { at, message } in check(node, level, &mut self.patterns) {
                self.mistake(&at, message);
            }
        }
        let mut constraints = Constraints::default();
        let mut is_constrained = false;
        let mut keys = Box::default();
        for entry in node.entries() {
            if !entry.node.is_null() && !self.structure(&mut schema, &mut keys, entry, level, depth) {
                is_constrained |= self.constraint(&mut constraints, entry, depth);
            }
        }
        if schema.layout == Layout::Map(Box::default()) {
            schema.layout = Layout::Map(keys);
        }
        if is_constrained {
            schema.constraints = Some(Box::new(constraints));
        }
        schema
    }

    /// Reads a field about the structure of the value; returns whether it is one.
    fn structure(
        &mut self,
        schema: &mut Schema,
        keys: &mut Box<[Box<str>]>,
        entry: &Entry,
        level: Level,
        depth: usize,
    ) -> bool {
        let node = &entry.node;
        let below = |child| if level == Level::Alternative { level } else { child };
        match &*entry.key {
            "type" => match node.text().map(value_type) {
                Some(Some(found)) => {
                    schema.value_type.get_or_insert(found);
                }
                _ => self.mistake(node.span(), "`type` must be a type of JSON Schema, such as `string`".into()),
            },
            "nullable" => schema.nullable = is_true(node),
            "properties" => {
                let mut properties: Vec<(Box<str>, Link)> = Vec::with_capacity(node.entries().len());
                for field in node.entries() {
                    properties.push((field.json_key().into(), self.link(&field.node, below(Level::Field), depth + 1)));
                }
                properties.sort_by(|(a, _), (b, _)| a.cmp(b));
                properties.dedup_by(|(a, _), (b, _)| a == b);
                schema.properties = properties.into();
            }
            "additionalProperties" => {
                schema.additional = match node.resolve(Reader::Kubernetes) {
                    Some(Scalar::Bool(true)) => Additional::Any,
                    Some(_) => Additional::None,
                    None => Additional::Each(self.link(node, below(Level::Field), depth + 1)),
                };
            }
            "items" => schema.items = Some(self.link(node, below(Level::Item), depth + 1)),
            "required" => schema.required = texts(node),
            "default" => schema.default = Some(Box::new(to_json(node, Reader::Kubernetes))),
            "x-kubernetes-preserve-unknown-fields" => schema.preserves_unknown = is_true(node),
            "x-kubernetes-embedded-resource" => schema.embedded = is_true(node),
            "x-kubernetes-int-or-string" => {
                if is_true(node) {
                    schema.value_type = Some(Type::IntOrString);
                }
            }
            "x-kubernetes-list-map-keys" => *keys = texts(node),
            "x-kubernetes-list-type" | "x-kubernetes-map-type" => match node.text().and_then(layout) {
                Some(found) => schema.layout = found,
                None => {
                    self.mistake(node.span(), format!("`{}` must be `atomic`, `set`, `map` or `granular`", entry.key));
                }
            },
            "x-kubernetes-patch-merge-key" => schema.merge_key = node.text().map(Into::into),
            "$ref" => {
                let message = "a schema of a CustomResourceDefinition must not have `$ref`: write the schema here";
                self.mistake(node.span(), message.into());
                schema.preserves_unknown = true;
            }
            _ => return false,
        }
        true
    }

    /// Reads any other field; returns whether it constrains the value.
    fn constraint(&mut self, constraints: &mut Constraints, entry: &Entry, depth: usize) -> bool {
        let node = &entry.node;
        match &*entry.key {
            "enum" => {
                constraints.enum_values = node.items().iter().map(|item| to_json(item, Reader::Kubernetes)).collect();
            }
            "pattern" => constraints.pattern = node.text().map(Into::into),
            "format" => constraints.format = node.text().map(Into::into),
            "minimum" => bound(&mut constraints.minimum).value = number(node).unwrap_or(f64::NEG_INFINITY),
            "maximum" => bound(&mut constraints.maximum).value = number(node).unwrap_or(f64::INFINITY),
            "exclusiveMinimum" if is_true(node) => bound(&mut constraints.minimum).exclusive = true,
            "exclusiveMaximum" if is_true(node) => bound(&mut constraints.maximum).exclusive = true,
            "multipleOf" => constraints.multiple_of = number(node),
            "minLength" => constraints.length.min = count(node),
            "maxLength" => constraints.length.max = count(node),
            "minItems" => constraints.item_count.min = count(node),
            "maxItems" => constraints.item_count.max = count(node),
            "minProperties" => constraints.property_count.min = count(node),
            "maxProperties" => constraints.property_count.max = count(node),
            "uniqueItems" if is_true(node) => constraints.unique_items = true,
            "x-kubernetes-validations" => constraints.rules = node.items().iter().filter_map(rule).collect(),
            "allOf" => constraints.all_of = self.each(node, depth),
            "anyOf" => constraints.any_of = self.each(node, depth),
            "oneOf" => constraints.one_of = self.each(node, depth),
            "not" => constraints.not = Some(self.link(node, Level::Alternative, depth + 1)),
            _ => return false,
        }
        true
    }

    fn each(&mut self, node: &Node, depth: usize) -> Box<[Link]> {
        node.items().iter().map(|item| self.link(item, Level::Alternative, depth + 1)).collect()
    }

    fn mistake(&mut self, at: &Span, message: String) {
        if self.mistakes.len() < MAX_MISTAKES {
            self.mistakes.push(Mistake { at: at.clone(), message });
        }
    }
}

fn value_type(text: &str) -> Option<Type> {
    Some(match text {
        "object" => Type::Object,
        "array" => Type::Array,
        "string" => Type::String,
        "integer" => Type::Integer,
        "number" => Type::Number,
        "boolean" => Type::Boolean,
        _ => return None,
    })
}

fn layout(text: &str) -> Option<Layout> {
    Some(match text {
        "atomic" => Layout::Atomic,
        "granular" => Layout::Granular,
        "set" => Layout::Set,
        "map" => Layout::Map(Box::default()),
        _ => return None,
    })
}

fn rule(node: &Node) -> Option<Rule> {
    let text = |field: &str| node.get(field).and_then(Node::text).map(Into::into);
    let expression = node.get("rule")?;
    Some(Rule {
        rule: expression.text()?.into(),
        message: text("message"),
        message_expression: text("messageExpression"),
        reason: text("reason"),
        field_path: text("fieldPath"),
        optional_old_self: node.get("optionalOldSelf").is_some_and(is_true),
        at: Some(expression.span().clone()),
    })
}

fn bound(limit: &mut Option<Bound>) -> &mut Bound {
    let (value, exclusive) = (f64::NAN, false);
    limit.get_or_insert(Bound { value, exclusive })
}
