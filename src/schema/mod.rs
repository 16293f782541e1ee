//! Validation of a node against a JSON Schema, with a finding for every error.

mod publish;
mod cost;
mod partial;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::{Location, LocationSegment};
use serde_json::Value;

use crate::base::finding::Finding;
use crate::base::similar_names::did_you_mean;
use crate::text::Span;
use crate::yaml::{Node, Reader, Scalar};

pub use partial::{NoJudgement, PartialChecker, PartialMismatch};
pub use publish::{close_objects, publish};

/// The rule id for unknown fields.
pub const UNKNOWN_FIELD: &str = "unknown-field";

/// A pattern or format of a schema, with a check that explains a mismatch.
#[derive(Debug, Clone, Copy)]
pub struct TextFormat {
    /// The `pattern` or `format` of the schema.
    pub keyword: &'static str,
    /// The function that returns the error of a text, or `None` if the text is valid.
    pub check: fn(&str) -> Option<FormatError>,
}

/// The error of a text that does not match a format.
#[derive(Debug, Clone)]
pub struct FormatError {
    /// The rule id; `None` for the rule of the schema.
    pub rule: Option<&'static str>,
    /// The message, which follows the name of the field.
    pub message: String,
    /// The help.
    pub help: String,
}

/// A compiled schema.
pub struct Checker {
    validator: jsonschema::Validator,
    schema: Value,
    rule: &'static str,
    formats: &'static [TextFormat],
    /// Whether the schema is that of a user, whose descriptions explain patterns.
    is_of_user: bool,
}

impl Checker {
    /// Compiles a schema of this project; `rule` is the rule id of the findings.
    pub fn new(schema: Value, rule: &'static str, formats: &'static [TextFormat]) -> Self {
        Self::compile(schema, rule, formats).expect("the schemas of this project are valid")
    }

    /// Compiles a schema of a user; the error is a message. References to other documents are errors.
    ///
    /// Objects with `properties` accept no other properties, unless the schema sets `additionalProperties`.
    pub fn of_user(mut schema: Value, rule: &'static str, formats: &'static [TextFormat]) -> Result<Self, String> {
        publish::close_objects(&mut schema);
        let checker = Self::compile(schema, rule, formats).map_err(|error| error.to_string())?;
        Ok(Self { is_of_user: true, ..checker })
    }

    fn compile(
        schema: Value,
        rule: &'static str,
        formats: &'static [TextFormat],
    ) -> Result<Self, ValidationError<'static>> {
        let mut options = jsonschema::options()
            .with_draft(jsonschema::Draft::Draft7)
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .should_validate_formats(true);
        for format in formats {
            let fault = format.check;
            options = options.with_format(format.keyword, move |text: &str| fault(text).is_none());
        }
        let validator = options.build(&schema)?;
        Ok(Self { validator, schema, rule, formats, is_of_user: false })
    }

    /// The findings of a document. An entry with a null value counts as absent.
    pub fn check(&self, document: &Node) -> Vec<Finding> {
        let instance = instance(document);
        let mut findings = Vec::new();
        for error in self.validator.iter_errors(&instance) {
            self.explain(document, &error, &mut findings);
        }
        crate::base::group_findings::sort(&mut findings);
        findings
    }

    fn explain(&self, document: &Node, error: &ValidationError<'_>, findings: &mut Vec<Finding>) {
        let place = Instance::find(document, error.instance_path());
        let text = place.node.text().unwrap_or_default();
        let invalid = |message: String| Finding::error(self.rule, place.span(), message);
        let field = &place.field;
        let first = findings.len();
        match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                for name in unexpected {
                    findings.push(self.unexpected_field(&place, name, error.schema_path()));
                }
            }
            ValidationErrorKind::Required { property } => {
                let property = property.as_str().unwrap_or_default();
                let at = place.node.get("name").filter(|name| !name.is_null()).map(|name| name.span().clone());
                let first = || place.node.entries().first().map(crate::yaml::Entry::key_span);
                let at = at.or_else(first).unwrap_or_else(|| place.span());
                let owner = place.name();
                let help = match self.example(error.schema_path(), property) {
                    Some(example) => format!("add it, for example `{property}: {example}`"),
                    None => format!("add `{property}:`"),
                };
                findings.push(Finding::error(self.rule, at, format!("{owner} has no `{property}`")).help(help));
            }
            ValidationErrorKind::Type { kind } => {
                // A number may lack its unit: `10` for `10m`.
                let pattern = self.parent(error.schema_path()).and_then(|schema| schema.get("pattern")?.as_str());
                let format = self.formats.iter().find(|format| Some(format.keyword) == pattern);
                let fault = format.filter(|_| !text.is_empty()).and_then(|format| (format.check)(text));
                let finding = wrong_type(&place, kind, invalid);
                let example = self.parent(error.schema_path()).and_then(|schema| schema.get("examples")?.get(0));
                let example = example.filter(|example| example.is_object() && place.node.text().is_some());
                findings.push(match (fault, example) {
                    (Some(fault), _) => finding.help(fault.help),
                    (None, Some(example)) if finding.help.is_none() => {
                        finding.help(format!("write a mapping, for example `{example}`"))
                    }
                    (None, _) => finding,
                });
            }
            ValidationErrorKind::Enum { options } => {
                let options: Vec<String> = options.as_array().into_iter().flatten().map(plain).collect();
                findings.push(not_one_of(&place, &options, invalid));
            }
            ValidationErrorKind::Constant { expected_value } => {
                findings.push(not_one_of(&place, &[plain(expected_value)], invalid));
            }
            ValidationErrorKind::Pattern { pattern } => {
                findings.push(if text.is_empty() {
                    empty(&invalid, field)
                } else {
                    self.format_mismatch(&place, pattern, text)
                });
            }
            ValidationErrorKind::Format { format } => findings.push(self.format_mismatch(&place, format, text)),
            ValidationErrorKind::MinItems { limit } if *limit > 1 => {
                let count = place.node.items().len();
                findings.push(invalid(format!("{field} must have at least {limit} items; found {count}")));
            }
            ValidationErrorKind::MinLength { .. } | ValidationErrorKind::MinItems { .. } => {
                findings.push(empty(&invalid, field));
            }
            ValidationErrorKind::MaxLength { limit } => {
                let length = text.chars().count();
                findings.push(invalid(format!("{field} has {length} characters; at most {limit} are allowed")));
            }
            ValidationErrorKind::MinProperties { .. } => {
                findings.push(
                    invalid(format!("{field} has no fields")).help("set a field of the mapping, or remove the mapping"),
                );
            }
            ValidationErrorKind::AnyOf { context } => self.explain_any_of(document, context, &place, findings),
            ValidationErrorKind::MaxProperties { limit } => {
                let count = place.node.entries().len();
                findings.push(invalid(format!("{field} has {count} fields; at most {limit} are allowed")));
            }
            other => {
                let message = outside_limits(other, field, text, place.node);
                let message = message.unwrap_or_else(|| format!("{field} is not valid here ({})", other.keyword()));
                findings.push(invalid(message));
            }
        }
        let description = self.parent(error.schema_path()).and_then(|schema| schema.get("description")?.as_str());
        let constrained = !matches!(
            error.kind(),
            ValidationErrorKind::AdditionalProperties { .. } | ValidationErrorKind::Required { .. }
        );
        if let (true, Some(description), Some(finding)) = (constrained, description, findings.get_mut(first))
            && self.is_of_user
            && finding.help.is_none()
        {
            finding.help = Some(as_help(description));
        }
    }

    /// The finding of an unexpected field: an unknown field, or a key that does not match the pattern of its mapping.
    fn unexpected_field(&self, place: &Instance<'_>, name: &str, schema: &Location) -> Finding {
        let at = place.node.entry(name).map_or_else(|| place.span(), crate::yaml::Entry::key_span);
        let object = self.parent(schema);
        let keys = |keyword: &str| {
            let keys = object.and_then(|object| object.get(keyword)).and_then(Value::as_object);
            keys.into_iter().flat_map(|keys| keys.keys().map(String::as_str)).collect::<Vec<_>>()
        };
        if let [pattern] = keys("patternProperties").as_slice() {
            let place = Instance { field: "this key".into(), at: Some(at), node: place.node };
            return self.format_mismatch(&place, pattern, name);
        }
        let known = keys("properties");
        let help = match did_you_mean(name, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => {
                format!(
                    "use one of the known fields: {}",
                    known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
                )
            }
        };
        Finding::error(UNKNOWN_FIELD, at, format!("{} has no field `{name}`", place.name())).help(help)
    }

    fn format_mismatch(&self, place: &Instance<'_>, keyword: &str, text: &str) -> Finding {
        let format = self.formats.iter().find(|format| format.keyword == keyword);
        let field = &place.field;
        match format.and_then(|format| (format.check)(text)) {
            Some(FormatError { rule, message, help }) => {
                Finding::error(rule.unwrap_or(self.rule), place.span(), format!("{field} {message}")).help(help)
            }
            None => Finding::error(self.rule, place.span(), format!("{field} does not match `{keyword}`")),
        }
    }

    /// Explains the alternative of an `anyOf` that the author probably intended: the alternative with a matching type.
    fn explain_any_of(
        &self,
        document: &Node,
        context: &[Vec<ValidationError<'static>>],
        place: &Instance<'_>,
        findings: &mut Vec<Finding>,
    ) {
        let attempted = context.iter().find(|errors| {
            !errors.iter().any(|error| {
                matches!(error.kind(), ValidationErrorKind::Type { .. })
                    && std::ptr::eq(Instance::find(document, error.instance_path()).node, place.node)
            })
        });
        if let Some(errors) = attempted {
            for error in errors {
                self.explain(document, error, findings);
            }
            return;
        }
        let wanted = context.iter().flatten().filter_map(|error| match error.kind() {
            ValidationErrorKind::Type { kind } => Some(types(kind)),
            _ => None,
        });
        let mut wanted: Vec<&str> = wanted.flatten().map(|name| type_name(&name)).collect();
        wanted.dedup();
        let message = format!("{} is {}; it must be {}", place.field, kind_of(place.node), wanted.join(" or "));
        let finding = Finding::error(self.rule, place.span(), message);
        let text = place.node.text().filter(|_| wanted.contains(&type_name("array")));
        findings.push(match text {
            Some(text) => finding.help(format!("write the value as a list: `[{text}]`")),
            None => finding,
        });
    }

    fn parent(&self, keyword: &Location) -> Option<&Value> {
        let (parent, _) = keyword.as_str().rsplit_once('/')?;
        self.schema.pointer(parent)
    }

    fn example(&self, keyword: &Location, property: &str) -> Option<String> {
        let property = self.parent(keyword)?.get("properties")?.get(property)?;
        let example = property.get("examples")?.get(0)?;
        (example.is_string() || example.is_number()).then(|| plain(example))
    }
}

/// Returns a description as a help: in lower case, without the full stop of a single sentence.
fn as_help(description: &str) -> String {
    let text = description.strip_suffix('.').filter(|text| !text.contains(". ")).unwrap_or(description);
    let mut characters = text.chars();
    match (characters.next(), characters.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => first.to_lowercase().chain(characters).collect(),
        _ => text.to_owned(),
    }
}

impl std::fmt::Debug for Checker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checker").field("rule", &self.rule).finish_non_exhaustive()
    }
}

/// An invalid node, with its name in messages.
struct Instance<'a> {
    node: &'a Node,
    /// The name in messages, such as `` `timeout` `` or `the document`.
    field: String,
    at: Option<Span>,
}

impl<'a> Instance<'a> {
    fn find(document: &'a Node, path: &Location) -> Self {
        let mut place = Instance { node: document, field: "the document".into(), at: None };
        for segment in path.segments() {
            let next = match &segment {
                LocationSegment::Property(name) => place.node.entry(name).map(|entry| (&entry.node, &*entry.key)),
                LocationSegment::Index(index) if place.node.is_seq() => {
                    place.node.items().get(*index).map(|node| (node, ""))
                }
                // The library reports a key of digits as an index.
                LocationSegment::Index(index) => {
                    place.node.entry(&index.to_string()).map(|entry| (&entry.node, &*entry.key))
                }
            };
            let Some((node, key)) = next else { break };
            place.node = node;
            if key.is_empty() {
                place.field = format!("item {} of {}", index_of(&segment) + 1, place.field);
            } else {
                place.field = format!("`{key}`");
            }
        }
        place
    }

    fn span(&self) -> Span {
        self.at.clone().unwrap_or_else(|| self.node.span().clone())
    }

    /// The `name` of a mapping, or the name of its field.
    fn name(&self) -> String {
        match self.node.get("name").and_then(Node::text) {
            Some(name) if !name.is_empty() => format!("`{name}`"),
            _ => self.field.clone(),
        }
    }
}

fn index_of(segment: &LocationSegment<'_>) -> usize {
    match segment {
        LocationSegment::Index(index) => *index,
        LocationSegment::Property(_) => 0,
    }
}

/// The JSON instance of a node for the schema: scalars of YAML 1.2, without entries that have no value.
fn instance(node: &Node) -> Value {
    if node.is_map() {
        let entries = node.entries().iter().filter(|entry| !entry.node.is_null());
        return Value::Object(entries.map(|entry| (entry.key.to_string(), instance(&entry.node))).collect());
    }
    if node.is_seq() {
        return Value::Array(node.items().iter().map(instance).collect());
    }
    crate::yaml::to_json(node, Reader::Core)
}

/// The message about a number or list outside of its limits.
fn outside_limits(kind: &ValidationErrorKind, field: &str, text: &str, node: &Node) -> Option<String> {
    Some(match kind {
        ValidationErrorKind::Minimum { limit } => format!("{field} is {text}; it must be at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("{field} is {text}; it must be at most {limit}"),
        ValidationErrorKind::ExclusiveMinimum { limit } => {
            format!("{field} is {text}; it must be greater than {limit}")
        }
        ValidationErrorKind::ExclusiveMaximum { limit } => format!("{field} is {text}; it must be less than {limit}"),
        ValidationErrorKind::MaxItems { limit } => {
            format!("{field} has {} items; at most {limit} are allowed", node.items().len())
        }
        ValidationErrorKind::UniqueItems => format!("{field} contains an item twice"),
        ValidationErrorKind::PropertyNames { error } => format!("{field} has an invalid key: {error}"),
        _ => return None,
    })
}

fn empty(invalid: &impl Fn(String) -> Finding, field: &str) -> Finding {
    invalid(format!("{field} is empty")).help("set a value, or remove the field")
}

fn wrong_type(place: &Instance<'_>, wanted: &TypeKind, invalid: impl Fn(String) -> Finding) -> Finding {
    let names = types(wanted);
    let wants = |name: &str| names.iter().any(|wanted| wanted == name);
    let wanted: Vec<&str> = names.iter().map(|name| type_name(name)).collect();
    let (found, field) = (kind_of(place.node), &place.field);
    let finding = invalid(format!("{field} is {found}; it must be {}", wanted.join(" or ")));
    let text = place.node.text().unwrap_or_default();
    if wants("string") && place.node.text().is_some() {
        return finding.help(format!("put it in quotes: `\"{text}\"`"));
    }
    if wants("array") && place.node.is_map() {
        return finding.help("put `- ` before each item");
    }
    if wants("array") && !text.is_empty() {
        return finding.help(format!("write the value as a list: `[{text}]`"));
    }
    if wants("boolean") && matches!(text, "yes" | "on" | "no" | "off") {
        let meant = if matches!(text, "yes" | "on") { "true" } else { "false" };
        return finding.help(format!("write `{meant}`"));
    }
    finding
}

/// The JSON Schema names of the expected types.
fn types(wanted: &TypeKind) -> Vec<String> {
    match wanted {
        TypeKind::Single(kind) => vec![kind.to_string()],
        TypeKind::Multiple(kinds) => kinds.iter().map(|kind| kind.to_string()).collect(),
    }
}

fn not_one_of(place: &Instance<'_>, options: &[String], invalid: impl Fn(String) -> Finding) -> Finding {
    let text = match place.node.text() {
        Some(text) => format!("`{text}`"),
        None => kind_of(place.node).to_owned(),
    };
    let listed = options.iter().map(|option| format!("`{option}`")).collect::<Vec<_>>().join(", ");
    let wanted = if options.len() == 1 { listed } else { format!("one of {listed}") };
    let finding = invalid(format!("{} is {text}; it must be {wanted}", place.field));
    let meant = place.node.text().and_then(|text| did_you_mean(text, options.iter().map(String::as_str)));
    match meant {
        Some(meant) => finding.help(format!("did you mean `{meant}`?")),
        None => finding,
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn type_name(name: &str) -> &'static str {
    match name {
        "object" => "a mapping",
        "array" => "a list",
        "string" => "text",
        "boolean" => "`true` or `false`",
        "integer" => "an integer",
        "number" => "a number",
        _ => "nothing",
    }
}

fn kind_of(node: &Node) -> &'static str {
    if node.is_map() {
        return "a mapping";
    }
    match node.resolve(Reader::Core) {
        None => "a list",
        Some(Scalar::Null) => "nothing",
        Some(Scalar::Bool(_)) => "a boolean",
        Some(Scalar::Int(_) | Scalar::Float(_)) => "a number",
        Some(Scalar::String(_)) => "text",
    }
}
