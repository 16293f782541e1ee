//! The rules of policies of Kyverno, as far as they certainly admit an object.
//!
//! Source: `pkg/engine` of Kyverno.

use super::pattern::fits;
use super::trial::{Trial, policy_of};
use crate::kube::Object;
use crate::yaml::{Node, Style, Value};

/// The field of a policy with other actions for some namespaces.
const OVERRIDES: &str = "validationFailureActionOverrides";

/// The fields of a policy that decide about an object of a rule.
pub(super) fn read_fields<'a>(spec: &'a Node, rule: &'a Node) -> impl Iterator<Item = &'a Node> {
    spec.get(OVERRIDES).into_iter().chain([rule])
}

/// Returns whether a rule of a policy certainly admits an object. `is_admitted` returns whether a policy with expressions
/// certainly admits it; it may know the answer without the policy.
pub(super) fn admits(
    spec: &Node,
    rule: &Node,
    trial: &Trial<'_>,
    is_admitted: impl FnOnce(&dyn Fn() -> Option<Object>) -> bool,
) -> bool {
    let is_only_audited = |overrides: Option<&Node>| {
        items(overrides).iter().any(|one| {
            let is_audit = text(one, "action").is_some_and(|action| action.eq_ignore_ascii_case("audit"));
            is_audit && one.get("namespaceSelector").is_none() && has_match(one.get("namespaces"), trial.namespace)
        })
    };
    if text(spec, "admission") == Some("false") || is_only_audited(spec.get(OVERRIDES)) {
        return true;
    }
    let is_mutated = rule.get("mutate").is_some();
    let Some(validate) = rule.get("validate").filter(|_| !is_mutated) else { return false };
    is_only_audited(validate.get("failureActionOverrides"))
        || rule.get("match").is_some_and(|matching| matched(matching, trial) == Some(false))
        || rule.get("exclude").is_some_and(|excluded| excludes(excluded, trial))
        || rule.get("preconditions").is_some_and(|conditions| holds(conditions, trial) == Some(false))
        || is_valid(rule, validate, trial, is_admitted)
}

/// Returns whether the filters of a `match` select an object; `None` if it is unknown.
fn matched(matching: &Node, trial: &Trial<'_>) -> Option<bool> {
    if let Some(any) = matching.get("any") {
        return any_of(any.items().iter().map(|filter| is_selected(filter, trial, Chosen::ByNobody)));
    }
    if let Some(all) = matching.get("all") {
        return all_of(all.items().iter().map(|filter| is_selected(filter, trial, Chosen::ByNobody)));
    }
    is_selected(matching, trial, Chosen::ByNobody)
}

/// Returns whether an `exclude` certainly excludes an object with a name, labels and annotations of its author's choice.
fn excludes(excluded: &Node, trial: &Trial<'_>) -> bool {
    let is_excluded = |filter: &Node| is_selected(filter, trial, Chosen::ToBeExcluded) == Some(true);
    let all = items(excluded.get("all"));
    items(excluded.get("any")).iter().any(is_excluded)
        || (!all.is_empty() && all.iter().all(is_excluded))
        || (excluded.get("any").is_none() && excluded.get("all").is_none() && is_excluded(excluded))
}

/// How the author of an object chooses its name, labels and annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chosen {
    /// So that no filter of a `match` selects them.
    ByNobody,
    /// So that the filter of an `exclude` selects them.
    ToBeExcluded,
}

/// Returns whether a filter selects an object; `None` if it is unknown.
fn is_selected(filter: &Node, trial: &Trial<'_>, chosen: Chosen) -> Option<bool> {
    let parts = filter.entries().iter().map(|entry| match &*entry.key {
        "resources" => has_resources(&entry.node, trial, chosen),
        "subjects" => any_of(entry.node.items().iter().map(|subject| is_subject(subject, trial))),
        _ => None,
    });
    if filter.entries().is_empty() { None } else { all_of(parts) }
}

fn is_subject(subject: &Node, trial: &Trial<'_>) -> Option<bool> {
    let (kind, name) = (text(subject, "kind")?, text(subject, "name")?);
    let (namespace, account) = (&trial.user.namespace, &trial.user.name);
    Some(match kind {
        "ServiceAccount" => text(subject, "namespace")? == &**namespace && fits(name, account),
        "User" => fits(name, &format!("system:serviceaccount:{namespace}:{account}")),
        "Group" => {
            let groups = [format!("system:serviceaccounts:{namespace}")];
            let shared = ["system:serviceaccounts", "system:authenticated"].into_iter();
            shared.chain(groups.iter().map(String::as_str)).any(|group| fits(name, group))
        }
        _ => return None,
    })
}

fn has_resources(resources: &Node, trial: &Trial<'_>, chosen: Chosen) -> Option<bool> {
    let parts = resources.entries().iter().map(|entry| {
        let list = items(Some(&entry.node));
        match &*entry.key {
            "kinds" => Some(list.iter().filter_map(Node::text).any(|kind| is_kind(kind, trial))),
            "namespaces" => Some(list.is_empty() || has_match(Some(&entry.node), trial.namespace)),
            "operations" => Some(list.is_empty() || list.iter().any(|one| one.text() == Some("CREATE"))),
            "name" | "names" | "selector" | "annotations" => Some(chosen == Chosen::ToBeExcluded),
            "namespaceSelector" => trial.is_selected_by(&entry.node),
            _ => None,
        }
    });
    all_of(parts)
}

/// Returns whether a kind in the syntax of Kyverno, such as `apps/v1/Deployment`, is that of an object.
fn is_kind(pattern: &str, trial: &Trial<'_>) -> bool {
    let parts: Vec<&str> = pattern.split('/').collect();
    let version = trial.object.api_version().rsplit('/').next().unwrap_or_default();
    match parts.as_slice() {
        [kind] => fits(kind, trial.kind.kind),
        [version_or_group, kind] => {
            let is_version = fits(version_or_group, version) || fits(version_or_group, trial.kind.group);
            is_version && fits(kind, trial.kind.kind)
        }
        [group, of, kind] => fits(group, trial.kind.group) && fits(of, version) && fits(kind, trial.kind.kind),
        // A kind with a subresource.
        _ => true,
    }
}

/// Returns whether the `validate` of a rule certainly accepts an object.
fn is_valid(
    rule: &Node,
    validate: &Node,
    trial: &Trial<'_>,
    is_admitted: impl FnOnce(&dyn Fn() -> Option<Object>) -> bool,
) -> bool {
    if let Some(pattern) = validate.get("pattern") {
        return fits_pattern(pattern, Some(&trial.object.node)) == Some(true);
    }
    if let Some(patterns) = validate.get("anyPattern") {
        return patterns.items().iter().any(|one| fits_pattern(one, Some(&trial.object.node)) == Some(true));
    }
    if let Some(conditions) = validate.at_keys(&["deny", "conditions"]) {
        return holds(conditions, trial) == Some(false);
    }
    if let Some(cel) = validate.get("cel").filter(|cel| cel.get("paramKind").is_none()) {
        return is_admitted(&|| policy_of_expressions(rule, cel));
    }
    false
}

/// The expressions of a rule as a policy.
fn policy_of_expressions(rule: &Node, cel: &Node) -> Option<Object> {
    let validations = cel.get("expressions")?;
    let constraints = "resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*']}]";
    let parsed = crate::yaml::parse(&crate::text::File::new("", constraints));
    let constraints = parsed.documents.first()?;
    let fields = [("matchConstraints", Some(&constraints.node)), ("validations", Some(validations))];
    let more = [("matchConditions", rule.get("celPreconditions")), ("variables", cel.get("variables"))];
    policy_of(fields.into_iter().chain(more).filter_map(|(key, node)| Some((key, node?))))
}

/// Returns whether conditions hold; `None` if it is unknown.
fn holds(conditions: &Node, trial: &Trial<'_>) -> Option<bool> {
    let each = |list: &Node| list.items().iter().map(|one| holds_one(one, trial)).collect::<Vec<_>>();
    if conditions.is_seq() {
        return all_of(each(conditions).into_iter());
    }
    let any = conditions.get("any").map(|list| any_of(each(list).into_iter()));
    let all = conditions.get("all").map(|list| all_of(each(list).into_iter()));
    if any.is_none() && all.is_none() {
        return None;
    }
    all_of(any.into_iter().chain(all))
}

fn holds_one(condition: &Node, trial: &Trial<'_>) -> Option<bool> {
    let key = resolved(condition.get("key")?.text()?, trial)?;
    let value = condition.get("value")?;
    let values: Vec<String> = if value.is_seq() {
        value.items().iter().map(|one| resolved(one.text()?, trial)).collect::<Option<_>>()?
    } else {
        vec![resolved(value.text()?, trial)?]
    };
    let is_in = values.iter().any(|one| fits(one, &key));
    match text(condition, "operator")? {
        "Equal" | "Equals" if values.len() == 1 => Some(is_in),
        "NotEqual" | "NotEquals" if values.len() == 1 => Some(!is_in),
        "In" | "AnyIn" | "AllIn" => Some(is_in),
        "NotIn" | "AnyNotIn" | "AllNotIn" => Some(!is_in),
        _ => None,
    }
}

/// The text of a key or value of a condition; `None` if it is unknown.
fn resolved(text: &str, trial: &Trial<'_>) -> Option<String> {
    if !text.contains("{{") {
        return Some(text.to_owned());
    }
    let variable = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    let (path, default) = match variable.split_once("||") {
        Some((path, default)) => {
            let default = default.trim();
            let quoted = ['\'', '`'].iter().find_map(|quote| default.strip_prefix(*quote)?.strip_suffix(*quote))?;
            (path, Some(quoted.trim_matches('"').to_owned()))
        }
        None => (variable, None),
    };
    match path.trim() {
        "request.namespace" => Some(trial.namespace.to_owned()),
        "request.operation" => Some("CREATE".to_owned()),
        path => {
            let keys: Vec<&str> = path.strip_prefix("request.object.")?.split('.').collect();
            // Without a default, Kyverno reports an error for a missing field.
            match trial.object.node.at_keys(&keys) {
                Some(node) => node.text().map(str::to_owned),
                None if keys.iter().all(|key| key.bytes().all(|byte| byte.is_ascii_alphanumeric())) => default,
                None => None,
            }
        }
    }
}

/// Returns whether an object fits a pattern; `None` if it is unknown.
fn fits_pattern(pattern: &Node, object: Option<&Node>) -> Option<bool> {
    match &pattern.value {
        Value::Map(entries) => all_of(entries.iter().map(|entry| {
            let key = &*entry.key;
            let anchored = |start: &str| key.strip_prefix(start).and_then(|key| key.strip_suffix(')'));
            let own = |key: &str| object.and_then(|object| object.get(key));
            if let Some(key) = anchored("=(") {
                return own(key).map_or(Some(true), |own| fits_pattern(&entry.node, Some(own)));
            }
            if let Some(key) = anchored("X(") {
                return Some(own(key).is_none());
            }
            if key.contains('(') {
                return None;
            }
            fits_pattern(&entry.node, Some(own(key)?))
        })),
        Value::Seq(_) | Value::Scalar(_, Style::Unknown) => None,
        Value::Scalar(pattern, _) => {
            let text = object?.text()?;
            if pattern.contains("{{") {
                return None;
            }
            let mut alternatives = pattern.split('|');
            any_of(alternatives.by_ref().map(|one| all_of(one.split('&').map(|term| fits_term(term.trim(), text)))))
        }
    }
}

fn fits_term(term: &str, text: &str) -> Option<bool> {
    if let Some(refused) = term.strip_prefix('!') {
        return fits_term(refused, text).map(|fits| !fits);
    }
    if term.starts_with(['>', '<']) {
        return None;
    }
    match term {
        "?*" => Some(!text.is_empty()),
        _ if term.contains('?') => None,
        _ => Some(fits(term, text)),
    }
}

fn any_of(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    all_of(answers.map(|answer| answer.map(|answer| !answer))).map(|answer| !answer)
}

fn all_of(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut all = Some(true);
    for answer in answers {
        match answer {
            Some(false) => return Some(false),
            Some(true) => {}
            None => all = None,
        }
    }
    all
}

fn items(list: Option<&Node>) -> &[Node] {
    list.map_or(&[][..], Node::items)
}

fn text<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    node.get(key).and_then(Node::text)
}

fn has_match(patterns: Option<&Node>, text: &str) -> bool {
    items(patterns).iter().filter_map(Node::text).any(|pattern| fits(pattern, text))
}
