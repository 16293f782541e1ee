//! Validation of partly unknown values with the schema of another author.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::LocationSegment;
use serde_json::Value;

use super::cost::{Cost, MAX_PAIRS, cost};
use super::{Checker, Instance};
use crate::base::finding::Finding;
use crate::yaml::{self, Node, Reader, Style};

/// The maximum number of errors of a validation.
const MAX_ERRORS: usize = 100;
/// The maximum size of a schema in bytes.
const MAX_SIZE: usize = 4 << 20;
/// The maximum size of a compiled pattern in bytes.
const MAX_PATTERN: usize = 1 << 20;
/// The maximum number of keywords that depend on the results of other keywords, whose costs multiply.
const MAX_UNEVALUATED: usize = 8;

/// The keywords whose result can depend on values at other places.
const CONDITIONAL: [&str; 9] =
    ["anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies", "contains"];

/// A schema of another author, such as that of a chart. It may reference documents that are not available.
#[derive(Debug)]
pub struct PartialChecker {
    checker: Checker,
    /// Whether the schema references other documents.
    is_open: bool,
}

/// The reason why a schema does not judge values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoJudgement {
    /// The schema is not valid, or uses a feature that is not supported, as a clause about the schema.
    Unsupported(&'static str),
    /// The schema exceeds a limit, as a clause about the schema.
    Limit(&'static str),
}

/// A mismatch of a value.
#[derive(Debug, Clone)]
pub struct PartialMismatch {
    /// The mismatch, at the value or the key.
    pub finding: Finding,
    /// The keys and indexes of the value, or of the unexpected key.
    pub path: Vec<String>,
    /// Whether the mismatch is that something is missing in the value.
    pub is_missing: bool,
}

impl PartialChecker {
    /// Compiles a schema.
    ///
    /// A reference to another document is a schema that every value satisfies. The text may set the version of JSON
    /// Schema with `$schema`, by default 2020-12.
    pub fn new(text: &str, rule: &'static str) -> Result<Self, NoJudgement> {
        if text.len() > MAX_SIZE {
            return Err(NoJudgement::Limit("is too large"));
        }
        let mut schema: Value = serde_json::from_str(text).map_err(|error| {
            // The library has no other sign of its limit.
            let is_deep = error.to_string().starts_with("recursion limit exceeded");
            if is_deep { NoJudgement::Limit("is too complex") } else { NoJudgement::Unsupported("is not valid JSON") }
        })?;
        let mut preparation = Preparation::default();
        preparation.prepare(&mut schema);
        if preparation.unevaluated > MAX_UNEVALUATED {
            return Err(NoJudgement::Limit("is too complex"));
        }
        let patterns = jsonschema::PatternOptions::regex().size_limit(MAX_PATTERN).dfa_size_limit(MAX_PATTERN);
        let options = jsonschema::options().with_pattern_options(patterns);
        let validator = options.build(&schema).map_err(|_| NoJudgement::Unsupported("is not a valid schema"))?;
        let checker = Checker { validator, schema, rule, formats: &[], is_of_user: true };
        Ok(Self { checker, is_open: preparation.is_open })
    }

    /// The certain mismatches of a document; an error if the validation is too expensive. `budget` is the remaining cost of all
    /// validations.
    ///
    /// `is_open` is whether the document may have further, unknown entries.
    pub fn check(&self, document: &Node, is_open: bool, budget: &mut u64) -> Result<Vec<PartialMismatch>, NoJudgement> {
        let mut spend = |cost: u64| {
            let left = budget.checked_sub(cost);
            *budget = left.unwrap_or_default();
            left.map(|_| ()).ok_or(NoJudgement::Limit("takes too long for all releases"))
        };
        spend(document.size() as u64)?;
        let instance = yaml::to_json(document, Reader::Kustomize);
        match cost(&self.checker.schema, &instance) {
            Cost::Affordable(cost) => spend(cost)?,
            Cost::TooHigh => {
                spend(MAX_PAIRS as u64)?;
                return Err(NoJudgement::Limit("is too complex"));
            }
            Cost::Unknown => return Err(NoJudgement::Unsupported("has a reference that the linter does not follow")),
        }
        let is_partial = is_open || self.is_open || has_unknown(document);
        let mut mismatches = Vec::new();
        for error in self.checker.validator.iter_errors(&instance).take(MAX_ERRORS) {
            if !is_certain(document, &error, is_partial, is_open) {
                continue;
            }
            let path = error.instance_path().segments().map(|segment| match segment {
                LocationSegment::Property(name) => name.to_string(),
                LocationSegment::Index(index) => index.to_string(),
            });
            let path: Vec<String> = path.collect();
            let mut findings = Vec::new();
            self.checker.explain(document, &error, &mut findings);
            let is_missing = matches!(
                error.kind(),
                ValidationErrorKind::Required { .. } | ValidationErrorKind::MinProperties { .. }
            );
            let unexpected: &[String] = match error.kind() {
                ValidationErrorKind::AdditionalProperties { unexpected } => unexpected,
                _ => &[],
            };
            let mismatch = |(at, finding): (usize, Finding)| {
                let path = path.iter().chain(unexpected.get(at)).cloned().collect();
                PartialMismatch { finding, path, is_missing }
            };
            mismatches.extend(findings.into_iter().enumerate().map(mismatch));
        }
        Ok(mismatches)
    }
}

/// Returns whether an error does not depend on unknown values.
fn is_certain(document: &Node, error: &ValidationError<'_>, is_partial: bool, is_open: bool) -> bool {
    let node = Instance::find(document, error.instance_path()).node;
    let is_conditional = error.evaluation_path().segments().any(|segment| match segment {
        LocationSegment::Property(name) => CONDITIONAL.contains(&&*name),
        LocationSegment::Index(_) => false,
    });
    if is_unknown(node) || is_partial && is_conditional {
        return false;
    }
    match error.kind() {
        ValidationErrorKind::Type { .. }
        | ValidationErrorKind::AdditionalProperties { .. }
        | ValidationErrorKind::AdditionalItems { .. }
        | ValidationErrorKind::FalseSchema
        | ValidationErrorKind::MaxProperties { .. }
        | ValidationErrorKind::MaxItems { .. }
        | ValidationErrorKind::MinItems { .. }
        | ValidationErrorKind::PropertyNames { .. }
        | ValidationErrorKind::ExclusiveMaximum { .. }
        | ValidationErrorKind::ExclusiveMinimum { .. }
        | ValidationErrorKind::Maximum { .. }
        | ValidationErrorKind::Minimum { .. }
        | ValidationErrorKind::MultipleOf { .. }
        | ValidationErrorKind::MaxLength { .. }
        | ValidationErrorKind::MinLength { .. }
        | ValidationErrorKind::Pattern { .. }
        | ValidationErrorKind::Format { .. } => true,
        ValidationErrorKind::Required { .. } | ValidationErrorKind::MinProperties { .. } => !is_open,
        ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. } | ValidationErrorKind::UniqueItems => {
            !has_unknown(node) && (!is_open || !node.is_map())
        }
        ValidationErrorKind::AnyOf { .. }
        | ValidationErrorKind::OneOfMultipleValid { .. }
        | ValidationErrorKind::OneOfNotValid { .. }
        | ValidationErrorKind::Not { .. }
        | ValidationErrorKind::Contains
        | ValidationErrorKind::UnevaluatedItems { .. }
        | ValidationErrorKind::UnevaluatedProperties { .. } => !is_partial,
        // Helm does not check the contents of texts. Other errors are limits of the library.
        _ => false,
    }
}

/// Removes what a validation offline cannot apply.
#[derive(Default)]
struct Preparation {
    is_open: bool,
    unevaluated: usize,
}

impl Preparation {
    fn prepare(&mut self, schema: &mut Value) {
        match schema {
            Value::Object(keywords) => {
                let is_external = |value: &Value| value.as_str().is_some_and(|reference| !reference.starts_with('#'));
                if keywords.get("$ref").is_some_and(is_external) {
                    self.is_open = true;
                    *schema = Value::Bool(true);
                    return;
                }
                for (keyword, value) in keywords.iter_mut() {
                    self.unevaluated += usize::from(keyword.starts_with("unevaluated"));
                    if !matches!(keyword.as_str(), "const" | "enum" | "default" | "examples") {
                        self.prepare(value);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.prepare(item)),
            _ => {}
        }
    }
}

fn has_unknown(node: &Node) -> bool {
    is_unknown(node)
        || node.entries().iter().any(|entry| has_unknown(&entry.node))
        || node.items().iter().any(has_unknown)
}

fn is_unknown(node: &Node) -> bool {
    matches!(node.value, yaml::Value::Scalar(_, Style::Unknown))
}
