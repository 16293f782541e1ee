//! What decides whether a policy admits an object.

use super::kyverno;
use super::pattern::fits;
use super::trial::{Trial, is_admitted_by_expressions};
use crate::kube::Object;
use crate::policy::LANGUAGES;
use crate::yaml::{Name, Node};

/// What decides whether a policy admits an object.
#[derive(Debug, Clone)]
pub(super) enum Check {
    /// A `ValidatingAdmissionPolicy`.
    Admission(Object),
    /// A policy of Kyverno with expressions, as a `ValidatingAdmissionPolicy`.
    Expressions(Object),
    /// A rule of a policy of Kyverno.
    Rule {
        /// The `spec` of the policy.
        spec: Node,
        rule: Node,
    },
    /// The `match` of a constraint.
    Constraint(Option<Node>),
    /// The decision is unknown.
    Unknown,
}

impl Check {
    /// Returns whether the policy certainly admits an object. `bindings` are the bindings of the cluster.
    pub(super) fn admits(&self, trial: &Trial<'_>, bindings: &[Object]) -> bool {
        match self {
            Self::Admission(policy) => {
                let own = bindings.iter().filter(|one| one.text_at(&["spec", "policyName"]) == Some(policy.name()));
                let objects: Vec<&Object> = own.chain([policy]).collect();
                LANGUAGES.iter().all(|language| trial.is_admitted_by(&*language.read(&objects).0))
            }
            Self::Expressions(policy) => is_admitted_by_expressions(policy, trial),
            Self::Rule { spec, rule } => kyverno::admits(spec, rule, trial),
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
