//! A `ValidatingAdmissionPolicy` with its compiled expressions.

use super::selection::Selection;
use crate::base::finding::{Finding, ObjectRef};
use crate::cel::{CompileError, Program};
use crate::kube::Object;
use crate::policy::INVALID_POLICY;
use crate::text::Span;
use crate::yaml::{Name, Node};

/// The variables of every expression of a policy.
pub(super) const VARIABLES: &[&str] =
    &["object", "oldObject", "request", "params", "namespaceObject", "variables", "authorizer"];

/// The limit on the variables and validations of a policy, as the size of an object in etcd limits them.
const MAX_EXPRESSIONS: usize = 1_000;

/// A `ValidatingAdmissionPolicy`.
#[derive(Debug)]
pub struct Policy {
    /// The name.
    pub name: Name,
    /// The reference to the object.
    pub reference: ObjectRef,
    /// The position of the name.
    pub at: Span,
    /// What the policy requires, from the annotation `kubernetes.io/description`.
    pub description: Option<String>,
    /// Whether a request is denied if an expression fails.
    pub(super) denies_on_failure: bool,
    /// The group and kind of its parameters.
    pub(super) param_kind: Option<(Name, Name)>,
    pub(super) selection: Selection,
    pub(super) conditions: Vec<Expression>,
    pub(super) variables: Vec<Expression>,
    pub(super) validations: Vec<Validation>,
    pub(super) audit: Vec<Expression>,
    /// Whether an expression does not compile: the API server rejects the policy.
    pub(super) is_invalid: bool,
}

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Expression {
    /// The name of a variable, a condition or an audit annotation; empty for other expressions.
    pub(super) name: Name,
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

impl Policy {
    /// Reads a policy and compiles its expressions. The findings are the expressions that do not compile.
    pub(super) fn read(object: &Object) -> (Self, Vec<Finding>) {
        let spec = object.node.get("spec");
        let field = |name: &str| spec.and_then(|spec| spec.get(name)).filter(|node| !node.is_null());
        let items = |name: &str| field(name).map_or(&[][..], Node::items).iter().take(MAX_EXPRESSIONS);
        let mut reader = Reader { object, findings: Vec::new() };
        let conditions = items("matchConditions").filter_map(|item| reader.named(item, "name", "expression")).collect();
        let variables = items("variables").filter_map(|item| reader.named(item, "name", "expression")).collect();
        let validations = items("validations").filter_map(|item| reader.validation(item)).collect();
        let audit = items("auditAnnotations").filter_map(|item| reader.named(item, "key", "valueExpression")).collect();
        let param_kind = field("paramKind").and_then(|kind| {
            let version = kind.get("apiVersion")?.text()?;
            let group = version.rsplit_once('/').map_or("", |(group, _)| group);
            Some((Name::from(group), kind.get("kind")?.shared_text()?))
        });
        let description = object.text_at(&["metadata", "annotations", "kubernetes.io/description"]);
        let policy = Self {
            name: object.name().into(),
            reference: object.reference(),
            at: object.span().clone(),
            description: description.map(str::to_owned),
            denies_on_failure: field("failurePolicy").and_then(Node::text) != Some("Ignore"),
            param_kind,
            selection: Selection::of(field("matchConstraints")),
            conditions,
            variables,
            validations,
            audit,
            is_invalid: !reader.findings.is_empty(),
        };
        (policy, reader.findings)
    }
}

struct Reader<'a> {
    object: &'a Object,
    findings: Vec<Finding>,
}

impl Reader<'_> {
    fn named(&mut self, item: &Node, name: &str, field: &str) -> Option<Expression> {
        let name = item.get(name).and_then(Node::shared_text).unwrap_or_else(|| Name::from(""));
        self.expression(item.get(field)?, name)
    }

    fn validation(&mut self, item: &Node) -> Option<Validation> {
        let unnamed = || Name::from("");
        let expression = self.expression(item.get("expression")?, unnamed())?;
        let message = item.get("message").filter(|node| !node.is_null()).and_then(Node::text).map(str::to_owned);
        let of_message = item.get("messageExpression").filter(|node| !node.is_null());
        let message_expression = of_message.and_then(|node| self.expression(node, unnamed()));
        Some(Validation { expression, message, message_expression })
    }

    /// Compiles an expression. An expression that does not compile is a finding.
    fn expression(&mut self, node: &Node, name: Name) -> Option<Expression> {
        let text = node.text()?;
        match Program::compile(text, VARIABLES) {
            Ok(program) => Some(Expression { name, program, at: node.span().clone() }),
            Err(error) => {
                self.findings.push(invalid(self.object, node, text, &error));
                None
            }
        }
    }
}

fn invalid(object: &Object, node: &Node, text: &str, error: &CompileError) -> Finding {
    let place = error.position_in(text);
    let message = format!("an expression of {} is invalid: {}", object.reference(), error.message);
    let help = format!("the API server rejects the policy; correct the expression at {place}");
    Finding::error(INVALID_POLICY, node.span().clone(), message).help(help).about(object.reference())
}
