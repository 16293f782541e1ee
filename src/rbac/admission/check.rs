//! What decides whether a policy admits an object.

use super::kyverno;
use super::pattern::fits;
use super::trial::{Compiled, Trial, compile, compile_unbound};
use crate::cel::Budget;
use crate::kube::Object;
use crate::yaml::{Name, Node};

/// The memory of a node that costs as much as one step of an expression, in bytes.
const BYTES_PER_STEP: usize = 64;

/// What decides whether a policy admits an object.
#[derive(Debug, Clone)]
pub(super) enum Check {
    /// A `ValidatingAdmissionPolicy`.
    Admission(Object, Compiled),
    /// A policy of Kyverno with expressions, as a `ValidatingAdmissionPolicy`.
    Expressions(Object, Compiled),
    /// A rule of a policy of Kyverno.
    Rule {
        /// The `spec` of the policy.
        spec: Node,
        rule: Node,
        /// The expressions of the rule.
        compiled: Compiled,
    },
    /// The `match` of a constraint.
    Constraint(Option<Node>),
    /// The decision is unknown.
    Unknown,
}

impl Check {
    /// Returns whether the policy certainly admits an object, within a budget. `bindings` are the bindings of the policy.
    pub(super) fn admits(&self, trial: &Trial<'_>, bindings: &[Object], budget: &mut Budget) -> bool {
        let cost = 1 + match self {
            Self::Rule { spec, rule, .. } => kyverno::read_fields(spec, rule).map(Node::weight).sum(),
            Self::Constraint(Some(matching)) => matching.weight(),
            _ => 0,
        } / BYTES_PER_STEP;
        if budget.spend(cost).is_err() {
            return false;
        }
        match self {
            Self::Admission(policy, compiled) => compiled.admit(trial, budget, || {
                let objects: Vec<&Object> = bindings.iter().chain([policy]).collect();
                Some(compile(&objects))
            }),
            Self::Expressions(policy, compiled) => compiled.admit(trial, budget, || compile_unbound(policy)),
            Self::Rule { spec, rule, compiled } => kyverno::admits(spec, rule, trial, |policy| {
                compiled.admit(trial, budget, || compile_unbound(&policy()?))
            }),
            Self::Constraint(matching) => matching.as_ref().is_some_and(|matching| is_unmatched(matching, trial)),
            Self::Unknown => false,
        }
    }
}

/// Returns whether the `match` of a constraint certainly excludes an object. Its author chooses the name.
fn is_unmatched(matching: &Node, trial: &Trial<'_>) -> bool {
    let field = |key: &str| matching.get(key).filter(|node| !node.is_null());
    let list = |node: Option<&Node>| -> Vec<Name> {
        node.map_or(&[][..], Node::items).iter().filter_map(Node::shared_text).collect()
    };
    let fits_any = |all: &[Name], text: &str| all.iter().any(|pattern| fits(pattern, text));
    let kinds = field("kinds").map_or(&[][..], Node::items);
    let is_of_kind = |item: &Node| {
        let has = |key: &str, text: &str| item.get(key).is_none() || fits_any(&list(item.get(key)), text);
        has("apiGroups", trial.kind.group) && has("kinds", trial.kind.kind)
    };
    fits_any(&list(field("excludedNamespaces")), trial.namespace)
        || field("name").and_then(Node::text).is_some_and(|name| name != "*")
        || field("namespaceSelector").is_some_and(|selector| trial.is_selected_by(selector) == Some(false))
        || (!kinds.is_empty() && !kinds.iter().any(is_of_kind))
}
