//! A `ValidatingAdmissionPolicy` with its compiled expressions.

use std::sync::Arc;

use super::selection::Selection;
use super::variables;
use crate::base::finding::{Finding, ObjectRef};
use crate::cel::{CompileError, Environment, Fields, Program, Type};
use crate::kube::Object;
use crate::policy::INVALID_POLICY;
use crate::text::Span;
use crate::yaml::{Name, Node};

/// The maximum number of expressions of each kind in a policy.
const MAX_EXPRESSIONS: usize = 1_000;

/// A `ValidatingAdmissionPolicy`.
#[derive(Debug)]
pub struct Policy {
    /// The reference to the object.
    pub reference: ObjectRef,
    /// The position of the name.
    pub at: Span,
    /// Whether a request is denied if an expression fails.
    pub(super) denies_on_failure: bool,
    /// The group and kind of its parameters.
    pub(super) param_kind: Option<(Name, Name)>,
    pub(super) selection: Selection,
    pub(super) conditions: Vec<Expression>,
    pub(super) variables: Vec<Expression>,
    pub(super) validations: Vec<Validation>,
    pub(super) audit: Vec<Expression>,
}

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Expression {
    /// The name of a variable, a condition or an audit annotation; empty for other expressions.
    pub(super) name: Name,
    pub(super) text: Name,
    pub(super) program: Program,
    pub(super) at: Span,
}

/// An expression that must be true, with the message for the opposite.
#[derive(Debug)]
pub(super) struct Validation {
    pub(super) expression: Expression,
    pub(super) message: Option<String>,
    pub(super) message_expression: Option<Expression>,
}

/// The variables that expressions may read, with the types of those that were compiled so far.
#[derive(Debug, Clone, Default)]
struct Variables(Vec<(Name, Type)>);

impl Fields for Variables {
    fn name(&self) -> &'static str {
        "variables"
    }

    fn field(&self, name: &str) -> Option<Type> {
        self.0.iter().find(|(known, _)| &**known == name).map(|(_, declared)| declared.clone())
    }
}

impl Policy {
    /// Reads a policy and compiles its expressions; `None` if the API server rejects it. The findings say why.
    pub(super) fn read(object: &Object) -> (Option<Self>, Vec<Finding>) {
        let spec = object.node.get("spec");
        let field = |name: &str| spec.and_then(|spec| spec.get(name)).filter(|node| !node.is_null());
        let items = |name: &str| field(name).map_or(&[][..], Node::items).iter().take(MAX_EXPRESSIONS);
        let param_kind = field("paramKind").and_then(|kind| {
            let version = kind.get("apiVersion")?.text()?;
            let group = version.rsplit_once('/').map_or("", |(group, _)| group);
            Some((Name::from(group), kind.get("kind")?.shared_text()?))
        });
        let has_params = param_kind.is_some();
        let mut reader = Reader { object, has_params, variables: None, findings: Vec::new() };
        let conditions =
            items("matchConditions").filter_map(|item| reader.named(item, "name", "expression", &["bool"])).collect();
        reader.variables = Some(Variables::default());
        let mut variables = Vec::new();
        for item in items("variables") {
            let Some(variable) = reader.named(item, "name", "expression", &[]) else { continue };
            let declared = (variable.name.clone(), variable.program.result_type().clone());
            reader.variables.get_or_insert_default().0.push(declared);
            variables.push(variable);
        }
        let validations = items("validations").filter_map(|item| reader.validation(item)).collect();
        let audit: Vec<Expression> = items("auditAnnotations")
            .filter_map(|item| reader.named(item, "key", "valueExpression", &["string", "null"]))
            .collect();
        for list in ["matchConditions", "variables", "validations", "auditAnnotations"] {
            if let Some(further) = field(list).and_then(|items| items.items().get(MAX_EXPRESSIONS)) {
                let message =
                    format!("`spec.{list}` has more than {MAX_EXPRESSIONS} items, which the linter does not evaluate");
                let help = "split the policy";
                let finding = Finding::error(INVALID_POLICY, further.span().clone(), message).help(help);
                reader.findings.push(finding.about(object.reference()));
            }
        }
        if field("matchConstraints").is_none() {
            reader.fault(&object.node, "it has no `spec.matchConstraints`");
        }
        if items("validations").chain(items("auditAnnotations")).next().is_none() {
            reader.fault(&object.node, "it has no `spec.validations` and no `spec.auditAnnotations`");
        }
        if !reader.findings.is_empty() {
            return (None, reader.findings);
        }
        let policy = Self {
            reference: object.reference(),
            at: object.span().clone(),
            denies_on_failure: field("failurePolicy").and_then(Node::text) != Some("Ignore"),
            param_kind,
            selection: Selection::of(field("matchConstraints")),
            conditions,
            variables,
            validations,
            audit,
        };
        (Some(policy), Vec::new())
    }
}

/// The reasons that a validation can have.
const REASONS: [&str; 4] = ["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"];

struct Reader<'a> {
    object: &'a Object,
    has_params: bool,
    /// `None` for conditions, which cannot read variables.
    variables: Option<Variables>,
    findings: Vec<Finding>,
}

impl Reader<'_> {
    fn named(&mut self, item: &Node, name: &str, field: &str, expected: &[&str]) -> Option<Expression> {
        let name = item.get(name).and_then(Node::shared_text).unwrap_or_else(|| Name::from(""));
        self.expression(item.get(field)?, name, expected)
    }

    fn validation(&mut self, item: &Node) -> Option<Validation> {
        let unnamed = || Name::from("");
        let expression = self.expression(item.get("expression")?, unnamed(), &["bool"])?;
        let message = item.get("message").filter(|node| !node.is_null());
        if let Some(node) = message.filter(|node| node.text().is_some_and(|text| text.trim().contains(['\n', '\r']))) {
            self.fault(node, "a message has several lines");
        }
        let message = message.and_then(Node::text).map(str::to_owned);
        let reason = item.get("reason").filter(|node| node.text().is_some_and(|text| !REASONS.contains(&text)));
        if let Some(node) = reason {
            self.fault(node, &format!("a reason is not one of `{}`", REASONS.join("`, `")));
        }
        let of_message = item.get("messageExpression").filter(|node| !node.is_null());
        let message_expression = of_message.and_then(|node| self.expression(node, unnamed(), &["string"]));
        Some(Validation { expression, message, message_expression })
    }

    /// Compiles an expression. An expression that does not compile, or has none of the expected types, is a finding. The
    /// API server also rejects an expression whose type is known only at run time.
    fn expression(&mut self, node: &Node, name: Name, expected: &[&str]) -> Option<Expression> {
        let text = node.shared_text()?;
        let mut environment = Environment::new(None);
        for variable in ["object", "oldObject", "authorizer"] {
            environment = environment.with(variable, Type::Dyn);
        }
        environment = environment.with("request", variables::request()).with("namespaceObject", variables::namespace());
        if self.has_params {
            environment = environment.with("params", Type::Dyn);
        }
        if let Some(variables) = &self.variables {
            environment = environment.with("variables", Type::Object(Arc::new(variables.clone())));
        }
        match environment.compile(&text) {
            Ok(program) => {
                let found = program.result_type();
                if !expected.is_empty() && !expected.contains(&&*found.to_string()) {
                    let message = if found.is_dyn() {
                        format!("the type of the result is not known; convert it, such as with `{}(…)`", expected[0])
                    } else {
                        format!("the result is `{found}` instead of `{}`", expected.join("` or `"))
                    };
                    self.refuse(node, &message);
                    return None;
                }
                Some(Expression { name, text, program, at: node.span().clone() })
            }
            Err(errors) => {
                for error in errors.iter().take(3) {
                    self.refuse(node, &located(&text, error));
                }
                None
            }
        }
    }

    /// Reports a fault other than an expression.
    fn fault(&mut self, node: &Node, fault: &str) {
        let message = format!("{} is invalid: {fault}", self.object.reference());
        let help = "correct the field: the API server rejects the policy";
        let finding = Finding::error(INVALID_POLICY, node.span().clone(), message).help(help);
        self.findings.push(finding.about(self.object.reference()));
    }

    fn refuse(&mut self, node: &Node, fault: &str) {
        let message = format!("an expression of {} is invalid: {fault}", self.object.reference());
        let help = "correct the expression: the API server rejects the policy";
        let finding = Finding::error(INVALID_POLICY, node.span().clone(), message).help(help);
        self.findings.push(finding.about(self.object.reference()));
    }
}

/// The fault of an expression with the part of the text.
fn located(text: &str, error: &CompileError) -> String {
    let part = text.get(error.at.clone()).unwrap_or_default().trim();
    if part.is_empty() || part.len() > 60 || part.contains('\n') {
        return error.message.clone();
    }
    format!("{} (at `{part}`)", error.message)
}
