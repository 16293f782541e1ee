//! A `ValidatingAdmissionPolicyBinding`: it enforces a policy, with parameters.

use super::selection::Selection;
use crate::base::finding::{Finding, Severity};
use crate::kube::Object;
use crate::kube::selector::Selector;
use crate::policy::INVALID_POLICY;
use crate::text::Span;
use crate::yaml::{Name, Node};

/// A `ValidatingAdmissionPolicyBinding`.
#[derive(Debug)]
pub(super) struct Binding {
    pub(super) policy: Name,
    pub(super) at: Span,
    pub(super) selection: Selection,
    /// The severity of a violation: an error if the API server denies the request. `None` if the binding has no action.
    pub(super) severity: Option<Severity>,
    pub(super) parameters: Option<ParamRef>,
}

/// The parameters that a binding selects.
#[derive(Debug)]
pub(super) struct ParamRef {
    pub(super) selected: SelectedParams,
    /// `None` for the namespace of each request.
    pub(super) namespace: Option<Name>,
    pub(super) denies_if_missing: bool,
    pub(super) at: Span,
}

/// How a binding selects parameters.
#[derive(Debug)]
pub(super) enum SelectedParams {
    Named(Name),
    Labeled(Selector),
}

impl Binding {
    /// The fault of a binding that the API server rejects.
    pub(super) fn fault(object: &Object) -> Option<Finding> {
        let node = object.node.at_keys(&["spec", "validationActions"]);
        let actions = node.map_or(&[][..], Node::items);
        let has = |action: &str| actions.iter().any(|own| own.text() == Some(action));
        let fault = if actions.is_empty() {
            "it has no `spec.validationActions`"
        } else if has("Deny") && has("Warn") {
            "its actions are both `Deny` and `Warn`"
        } else {
            return None;
        };
        let at = node.unwrap_or(&object.node).span().clone();
        let message = format!("{} is invalid: {fault}", object.reference());
        let help =
            "set `spec.validationActions` to `[Deny]`, `[Warn]`, `[Audit]`, or one of the first two with `Audit`";
        Some(Finding::error(INVALID_POLICY, at, message).help(help).about(object.reference()))
    }

    /// Reads a binding; `None` without the name of a policy.
    pub(super) fn read(object: &Object) -> Option<Self> {
        let field = |name: &str| object.node.at_keys(&["spec", name]).filter(|node| !node.is_null());
        let actions = field("validationActions").map_or(&[][..], Node::items);
        let has = |action: &str| actions.iter().any(|own| own.text() == Some(action));
        let severity = if has("Deny") {
            Some(Severity::Error)
        } else if has("Warn") {
            Some(Severity::Warning)
        } else {
            has("Audit").then_some(Severity::Pedantic)
        };
        Some(Self {
            policy: field("policyName")?.shared_text()?,
            at: object.span().clone(),
            selection: Selection::of(field("matchResources")),
            severity,
            parameters: field("paramRef").and_then(ParamRef::read),
        })
    }
}

impl ParamRef {
    fn read(node: &Node) -> Option<Self> {
        let text = |name: &str| node.get(name).and_then(Node::shared_text).filter(|text| !text.is_empty());
        let selector = || node.get("selector").and_then(Selector::of).map(SelectedParams::Labeled);
        Some(Self {
            selected: text("name").map(SelectedParams::Named).or_else(selector)?,
            namespace: text("namespace"),
            denies_if_missing: text("parameterNotFoundAction").as_deref() == Some("Deny"),
            at: node.span().clone(),
        })
    }
}
