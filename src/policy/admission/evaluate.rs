//! The evaluation of a policy for one request.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::binding::Binding;
use super::policy::{Expression, Policy, Validation};
use crate::base::finding::Severity;
use crate::cel::{Budget, Failure, Field, MapKey, Read, Record, Type, Value};
use crate::kube::Object;
use crate::policy::decision::{Decision, Unknown, Violation};
use crate::policy::request::Request;
use crate::text::Span;
use crate::yaml::{Entry, Key, Node, Style, Value as Yaml};

/// The steps of an evaluation of a policy, beside those of its expressions.
const STEPS_OF_POLICY: usize = 20;
/// The maximum length of a message in characters, as in the API server.
const MAX_MESSAGE: usize = 5 * 1024;

/// The variables of all expressions, by name.
struct Scope<'b> {
    values: Vec<(&'static str, Value)>,
    budget: &'b mut Budget,
}

/// Evaluates a policy for a request, with one object of parameters or none.
pub(super) fn evaluate(
    policy: &Policy,
    binding: &Binding,
    request: &Request<'_>,
    params: Option<&Object>,
    budget: &mut Budget,
    decision: &mut Decision,
) {
    let place = Place { policy, binding, request, params };
    let limit = budget.limit_of_expression();
    if budget.spend(STEPS_OF_POLICY).is_err() {
        place.exceed(&policy.at, limit, decision);
        return;
    }
    let mut scope = Scope::new(request, params, budget);
    match scope.conditions(&policy.conditions) {
        Ok(true) => {}
        Ok(false) => return,
        Err(Failure::Error(message)) => {
            if policy.denies_on_failure {
                let at = policy.conditions.first().map_or(&policy.at, |first| &first.at);
                decision.violations.push(place.violation(at, place.failure("a condition fails", &message), None));
            }
            return;
        }
        Err(Failure::Limit) => {
            let at = policy.conditions.first().map_or(&policy.at, |first| &first.at);
            place.exceed(at, limit, decision);
            return;
        }
        Err(Failure::Unknown) => {
            decision.unknown.push(Unknown::Value);
            return;
        }
    }
    scope.evaluate_variables(&policy.variables);
    for validation in &policy.validations {
        place.check(validation, &mut scope, decision);
    }
    for annotation in &policy.audit {
        if let (Err(Failure::Error(message)), _) = scope.evaluate(annotation)
            && policy.denies_on_failure
        {
            let message = place.failure(&format!("the audit annotation `{}` fails", annotation.name), &message);
            decision.violations.push(place.violation(&annotation.at, message, None));
        }
    }
}

impl<'b> Scope<'b> {
    fn new(request: &Request<'_>, params: Option<&Object>, budget: &'b mut Budget) -> Self {
        let node = |name: &'static str, object: &Object| Value::of_node(name, &object.node, &Type::Dyn);
        let namespace_object = match (request.namespace, request.namespace_object) {
            (None, _) => Value::Null,
            (Some(_), Some(object)) => node("namespaceObject", object),
            (Some(_), None) => Value::Unknown,
        };
        let mut values = vec![
            ("object", node("object", request.object)),
            ("oldObject", Value::Null),
            ("request", request_value(request)),
            ("namespaceObject", namespace_object),
            ("authorizer", Value::Unknown),
        ];
        values.push(("params", params.map_or(Value::Null, |params| node("params", params))));
        Self { values, budget }
    }

    /// Evaluates the variables of a policy. A variable may read earlier ones.
    fn evaluate_variables(&mut self, variables: &[Expression]) {
        let fields = variables.iter().fold(Vec::new(), |mut fields, variable| {
            self.set_variables(&fields);
            let found = self.evaluate(variable);
            fields.push(Field { name: variable.name.clone(), value: found.0, reads: found.1 });
            fields
        });
        self.set_variables(&fields);
    }

    fn set_variables(&mut self, fields: &[Field]) {
        self.values.retain(|(name, _)| *name != "variables");
        let record = Record { name: "variables".into(), fields: fields.to_vec() };
        self.values.push(("variables", Value::Record(Arc::new(record))));
    }

    fn evaluate(&mut self, expression: &Expression) -> (Result<Value, Failure>, Vec<Read>) {
        let found = expression.program.evaluate_in(&self.values, self.budget);
        (found.result, found.reads)
    }

    /// Returns whether all conditions are true. A condition that is false precedes the failure of another one.
    fn conditions(&mut self, conditions: &[Expression]) -> Result<bool, Failure> {
        let mut failure = None;
        for condition in conditions {
            let (result, reads) = self.evaluate(condition);
            match result {
                Ok(value) if value.as_bool() == Some(false) => return Ok(false),
                Ok(value) if value.as_bool() == Some(true) => {}
                Ok(_) => failure = Some(Failure::Error("the result is not a boolean".to_owned())),
                Err(Failure::Error(_)) if may_have_a_default(&reads) => failure = failure.or(Some(Failure::Unknown)),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(true), Err)
    }
}

/// A policy, its binding, a request and the parameters.
struct Place<'a> {
    policy: &'a Policy,
    binding: &'a Binding,
    request: &'a Request<'a>,
    params: Option<&'a Object>,
}

impl Place<'_> {
    fn check(&self, validation: &Validation, scope: &mut Scope<'_>, decision: &mut Decision) {
        let limit = scope.budget.limit_of_expression();
        let (result, reads) = scope.evaluate(&validation.expression);
        let message = match result {
            Ok(value) if value.as_bool() == Some(true) => return,
            Ok(value) if value.as_bool() == Some(false) => self.message(validation, scope),
            Ok(_) => "the result of the expression is not a boolean".to_owned(),
            Err(Failure::Error(_)) if may_have_a_default(&reads) => {
                decision.unknown.push(Unknown::Default);
                return;
            }
            Err(Failure::Error(error)) if self.policy.denies_on_failure => self.failure("the expression fails", &error),
            Err(Failure::Error(_)) => return,
            Err(Failure::Limit) => {
                self.exceed(&validation.expression.at, limit, decision);
                return;
            }
            Err(Failure::Unknown) => {
                decision.unknown.push(Unknown::Value);
                return;
            }
        };
        let at = place_of(&reads, self.request.object);
        decision.violations.push(self.violation(&validation.expression.at, message, at));
    }

    /// The message of a violated validation.
    fn message(&self, validation: &Validation, scope: &mut Scope<'_>) -> String {
        if let Some(expression) = &validation.message_expression
            && let Ok(value) = self.evaluate_message(expression, scope)
            && let Some(text) = value.as_text().map(str::trim)
            && !text.is_empty()
            && !text.contains('\n')
            && text.len() <= MAX_MESSAGE
        {
            return text.to_owned();
        }
        match &validation.message {
            Some(message) => message.trim().to_owned(),
            None => format!(
                "failed expression: {}",
                validation.expression.text.split_whitespace().collect::<Vec<_>>().join(" ")
            ),
        }
    }

    /// Describes the failure of an expression. Its error may contain values that the expression reads.
    fn failure(&self, what: &str, error: &str) -> String {
        if self.has_secret() { what.to_owned() } else { format!("{what}: {error}") }
    }

    fn has_secret(&self) -> bool {
        is_secret(self.request.object) || self.params.is_some_and(is_secret)
    }

    /// Evaluates the expression of a message. The values of Secrets are unknown: the expression could change them, and no
    /// mask would recognize them.
    fn evaluate_message(&self, expression: &Expression, scope: &mut Scope<'_>) -> Result<Value, Failure> {
        if !self.has_secret() {
            return scope.evaluate(expression).0;
        }
        let hidden = |object: &Object| is_secret(object).then(|| without_values(object));
        let (object, params) = (hidden(self.request.object), self.params.and_then(hidden));
        let request = Request { object: object.as_ref().unwrap_or(self.request.object), ..*self.request };
        let mut scope = Scope::new(&request, params.as_ref().or(self.params), scope.budget);
        scope.evaluate_variables(&self.policy.variables);
        scope.evaluate(expression).0
    }

    /// Reports an expression that exceeds the limit, since the object may violate the policy. Further expressions that
    /// exceed it are counted.
    fn exceed(&self, expression: &Span, limit: u64, decision: &mut Decision) {
        let message = match limit {
            0 => "the policies take too many steps for this object and cannot be checked".to_owned(),
            _ => format!("the expression takes more than {limit} steps and cannot be checked"),
        };
        let violation = self.violation(expression, message, None);
        if decision.over_limit >= Some(violation.severity) {
            decision.unknown.push(Unknown::Cost);
            return;
        }
        decision.over_limit = Some(violation.severity);
        decision.violations.push(violation);
    }

    fn violation(&self, expression: &Span, message: String, at: Option<Span>) -> Violation {
        Violation {
            severity: self.binding.severity.unwrap_or(Severity::Pedantic),
            message,
            at,
            policy: self.policy.reference.clone(),
            expression: expression.clone(),
        }
    }
}

/// Returns whether an expression fails at a missing field of the object, which the API server may set to a default. Labels
/// and annotations have no default.
fn may_have_a_default(reads: &[Read]) -> bool {
    let is_metadata = |read: &Read| match &*read.path.0 {
        [Key::Name(metadata), Key::Name(field), ..] => {
            &**metadata == "metadata" && matches!(&**field, "labels" | "annotations")
        }
        _ => false,
    };
    reads.last().is_some_and(|read| &*read.variable == "object" && !read.exists && !is_metadata(read))
}

fn is_secret(object: &Object) -> bool {
    object.is("", "Secret")
}

/// A Secret whose values and annotations are unknown.
fn without_values(secret: &Object) -> Object {
    let replace = |node: &Node, is_hidden: fn(&str) -> bool| {
        let unknown = |entry: &Entry| entry.with_node(Node::scalar("", Style::Unknown, entry.node.span().clone()));
        let entries = node.entries().iter();
        entries.map(|entry| if is_hidden(&entry.key) { unknown(entry) } else { entry.clone() }).collect::<Vec<_>>()
    };
    let with =
        |node: &Node, entries: Vec<Entry>| Node { value: Yaml::Map(entries.into()), origin: node.origin.clone() };
    let mut entries = replace(&secret.node, |key| matches!(key, "data" | "stringData"));
    for entry in entries.iter_mut().filter(|entry| &*entry.key == "metadata") {
        let metadata = with(&entry.node, replace(&entry.node, |key| key == "annotations"));
        *entry = entry.with_node(metadata);
    }
    Object { node: with(&secret.node, entries) }
}

/// The position of the last field of the object that an expression read.
fn place_of(reads: &[Read], object: &Object) -> Option<Span> {
    let read = reads.iter().rev().find(|read| &*read.variable == "object" && !read.path.0.is_empty())?;
    if let Some(node) = read.path.find(&object.node).filter(|_| read.exists) {
        return Some(node.span().clone());
    }
    // The nearest parent of a missing field.
    let mut path = read.path.clone();
    while path.0.pop().is_some() {
        let (last, parents) = (path.0.last(), path.0.split_last().map_or(&[][..], |(_, parents)| parents));
        let parent = crate::yaml::Path(parents.to_vec());
        if let (Some(Key::Name(name)), Some(parent)) = (last, parent.find(&object.node))
            && let Some(entry) = parent.entry(name)
        {
            return Some(entry.key_span());
        }
        if let Some(node) = path.find(&object.node).filter(|_| !path.0.is_empty()) {
            return Some(node.span().clone());
        }
    }
    None
}

/// The value of `request`.
fn request_value(request: &Request<'_>) -> Value {
    let text = |text: &str| Value::text(text);
    let map = |pairs: &[(&str, Value)]| {
        let pair = |(key, value): &(&str, Value)| (MapKey::String((*key).into()), value.clone());
        Value::map(pairs.iter().map(pair).collect::<BTreeMap<_, _>>())
    };
    let group = request.object.group();
    let kind =
        map(&[("group", text(group)), ("version", text(request.version())), ("kind", text(request.object.kind()))]);
    let resource =
        map(&[("group", text(group)), ("version", text(request.version())), ("resource", text(request.resource))]);
    let user = request.user.map_or(Value::Unknown, |user| {
        let mut groups = vec![text("system:authenticated")];
        if let Some((namespace, _)) = user.strip_prefix("system:serviceaccount:").and_then(|user| user.split_once(':'))
        {
            groups.push(text("system:serviceaccounts"));
            groups.push(Value::text(format!("system:serviceaccounts:{namespace}")));
        }
        map(&[("username", text(user)), ("groups", Value::list(groups))])
    });
    let field = |name: &str, value: Value| Field { name: name.into(), value: Ok(value), reads: Vec::new() };
    let fields = vec![
        field("kind", kind.clone()),
        field("resource", resource.clone()),
        field("requestKind", kind),
        field("requestResource", resource),
        field("subResource", text("")),
        field("requestSubResource", text("")),
        field("name", text(request.object.name())),
        field("namespace", text(request.namespace.unwrap_or_default())),
        field("operation", text(request.operation)),
        field("userInfo", user),
        field("dryRun", Value::Bool(false)),
        field("options", map(&[])),
    ];
    Value::Record(Arc::new(Record { name: "request".into(), fields }))
}
