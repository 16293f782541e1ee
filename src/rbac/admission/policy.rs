//! Admission policies that may reject an object because of the service account that it names.
//!
//! An escalation that a policy may forbid is reported as a warning, since only the cluster evaluates the policy.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use super::check::Check;
use super::pattern::fits;
use super::trial::{Compiled, Trial, Trials, policy_of};
use crate::base::finding::ObjectRef;
use crate::cel;
use crate::cel::{Budget, Environment, Type};
use crate::flux::Applied;
use crate::kube::Object;
use crate::rbac::model::account_kind::AccountKind;
use crate::rbac::model::subject::Account;
use crate::text::Span;
use crate::yaml::{Entry, Name, Node, Value};

/// The field that a policy for service accounts checks.
const FIELD: &str = "serviceAccountName";

/// The field that a policy for sources checks.
const URL: &str = "url";

/// The group of the constraints of Gatekeeper.
const CONSTRAINTS: &str = "constraints.gatekeeper.sh";

/// The fields of a policy that only describe it, or that describe objects. No check reads a service account there.
const DESCRIPTIONS: [&str; 6] = ["auditAnnotations", "description", "message", "messageExpression", "metadata", "name"];

/// The maximum cost of the expressions of a policy.
const MAX_COST: u64 = 10_000;

/// The policies of a cluster that may restrict which account an object names.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    all: Vec<Policy>,
    /// The enforced policies: the kind of the binding and the name of the policy.
    enforced: BTreeSet<(Name, Name)>,
    /// The kinds of constraints whose templates check the fields. Gatekeeper has no other constraints.
    templates: BTreeSet<Name>,
    /// The bindings of each policy.
    bindings: BTreeMap<Name, Vec<Object>>,
    /// The Namespaces.
    namespaces: BTreeMap<Name, Object>,
    trials: Mutex<Trials>,
}

/// An admission policy that checks the service accounts of objects.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The policy object.
    pub reference: ObjectRef,
    /// The position of the object.
    pub place: Span,
    /// The namespace to which the policy is limited; `None` for all namespaces.
    namespace: Option<Name>,
    /// Whether the policy may check service accounts.
    checks_accounts: bool,
    /// Whether the policy may check the addresses of sources.
    checks_urls: bool,
    /// The objects that the policy matches.
    scope: MatchScope,
    /// The kind of the binding that must enforce the policy, if the policy needs a binding.
    binding_kind: Option<Name>,
    /// What decides whether the policy admits an object.
    check: Check,
}

/// The objects that a policy matches.
#[derive(Debug, Clone)]
enum MatchScope {
    /// The groups and resources of each rule.
    Resources(Vec<(Vec<Name>, Vec<Name>)>),
    /// The kinds, in the syntax of Kyverno, and the namespaces of each match.
    Kinds(Vec<(Vec<Name>, Vec<Name>)>),
}

impl Policies {
    /// Adds an object, if it is a policy or enforces a policy.
    pub(crate) fn add(&mut self, applied: &Applied<'_>) {
        let object = applied.object;
        let text = |keys: &[&str]| object.node.at_keys(keys).and_then(Node::shared_text);
        match (object.group(), object.kind()) {
            ("", "Namespace") => drop(self.namespaces.insert(object.name().into(), object.clone())),
            ("admissionregistration.k8s.io", kind @ ("ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy")) => {
                let is_validating = kind == "ValidatingAdmissionPolicy";
                let check =
                    if is_validating { Check::Admission(object.clone(), Compiled::default()) } else { Check::Unknown };
                self.add_if_related(applied, resources(object), Some(format!("{kind}Binding").into()), check);
            }
            ("admissionregistration.k8s.io", kind @ "ValidatingAdmissionPolicyBinding") => {
                let actions = items(object.node.at_keys(&["spec", "validationActions"]));
                if let Some(name) = text(&["spec", "policyName"]).filter(|_| has(&actions, "Deny")) {
                    self.enforced.insert((kind.into(), name.clone()));
                    self.bindings.entry(name).or_default().push(object.clone());
                }
            }
            ("admissionregistration.k8s.io", kind @ "MutatingAdmissionPolicyBinding") => {
                self.enforced.extend(text(&["spec", "policyName"]).map(|name| (kind.into(), name)));
            }
            ("policies.kyverno.io", _) => {
                let actions = items(object.node.at_keys(&["spec", "validationActions"]));
                let is_enforced = text(&["spec", "evaluation", "admission", "enabled"]).as_deref() != Some("false");
                if is_enforced && (actions.is_empty() || has(&actions, "Deny")) {
                    let names = ["matchConstraints", "matchConditions", "variables", "validations"];
                    let fields = names.into_iter().filter_map(|key| Some((key, object.node.at_keys(&["spec", key])?)));
                    let check = policy_of(fields);
                    let check = check.map_or(Check::Unknown, |policy| Check::Expressions(policy, Compiled::default()));
                    self.add_if_related(applied, resources(object), None, check);
                }
            }
            ("kyverno.io", "ClusterPolicy") => self.add_kyverno(applied, None),
            ("kyverno.io", "Policy") => self.add_kyverno(applied, applied.namespace()),
            (CONSTRAINTS, _) => {
                let is_enforced = match text(&["spec", "enforcementAction"]).as_deref() {
                    None | Some("deny") => true,
                    Some("scoped") => denies_in_webhook(object),
                    _ => false,
                };
                let matching = object.node.at_keys(&["spec", "match"]);
                if is_enforced && !matching.is_some_and(is_evaded_constraint) {
                    let kinds = matching.and_then(|matching| matching.get("kinds")).map_or(&[][..], Node::items);
                    let namespaces = || items(matching.and_then(|matching| matching.get("namespaces")));
                    let kinds = kinds.iter().map(|item| (items(item.get("kinds")), namespaces())).collect();
                    let check = Check::Constraint(matching.cloned());
                    self.push(applied, (true, true), MatchScope::Kinds(kinds), None, None, check);
                }
            }
            ("templates.gatekeeper.sh", "ConstraintTemplate")
                if checks(&object.node) != (false, false) && may_violate(&object.node) =>
            {
                self.templates.extend(text(&["spec", "crd", "spec", "names", "kind"]));
            }
            _ => {}
        }
    }

    fn add_kyverno(&mut self, applied: &Applied<'_>, namespace: Option<&str>) {
        let object = applied.object;
        let of_all = object.text_at(&["spec", "validationFailureAction"]).unwrap_or("Audit");
        for rule in object.node.at_keys(&["spec", "rules"]).map_or(&[][..], Node::items) {
            let own = rule.at_keys(&["validate", "failureAction"]).and_then(Node::text).unwrap_or(of_all);
            let validate = rule.get("validate").filter(|_| own.eq_ignore_ascii_case("enforce"));
            let checked = [validate, rule.get("mutate")].into_iter().flatten().map(checks);
            let checked = checked.fold((false, false), |all, one| (all.0 || one.0, all.1 || one.1));
            if checked == (false, false) {
                continue;
            }
            let Some(matching) = rule.get("match").filter(|_| !excludes_all(rule)) else { continue };
            let listed = ["any", "all"].iter().filter_map(|key| matching.get(key)).flat_map(Node::items);
            let listed = listed.chain([matching]).filter(|one| one.get("subjects").is_none());
            let resources = listed.filter_map(|one| one.get("resources")).filter(|one| !is_evaded(one));
            let scope = resources.map(|one| (items(one.get("kinds")), items(one.get("namespaces")))).collect();
            let spec = object.node.get("spec").cloned();
            let check = spec.map_or(Check::Unknown, |spec| Check::Rule {
                spec,
                rule: rule.clone(),
                compiled: Compiled::default(),
            });
            self.push(applied, checked, MatchScope::Kinds(scope), None, namespace.map(Name::from), check);
        }
    }

    /// Adds a policy, if it mentions `serviceAccountName` or `url`.
    fn add_if_related(&mut self, applied: &Applied<'_>, scope: MatchScope, binding_kind: Option<Name>, check: Check) {
        let checked =
            applied.object.node.get("spec").filter(|spec| !never_refuses(spec)).map(checks).unwrap_or_default();
        if checked != (false, false) {
            self.push(applied, checked, scope, binding_kind, None, check);
        }
    }

    fn push(
        &mut self,
        applied: &Applied<'_>,
        (checks_accounts, checks_urls): (bool, bool),
        scope: MatchScope,
        binding_kind: Option<Name>,
        namespace: Option<Name>,
        check: Check,
    ) {
        let (reference, place) = (applied.object.reference(), applied.by.place(applied.object.span()));
        self.all.push(Policy { reference, place, namespace, checks_accounts, checks_urls, scope, binding_kind, check });
    }

    /// A policy that may reject an object of a kind in a namespace because of the account that the object names.
    pub(crate) fn forbids(&self, kind: AccountKind<'_>, namespace: &str) -> Option<&Policy> {
        self.find(kind, namespace, |policy| policy.checks_accounts)
    }

    /// Returns whether no policy may reject the creation of an object of a kind in a namespace by a user because of the account that
    /// the object names.
    pub(crate) fn admit(&self, kind: AccountKind<'_>, namespace: &str, user: &Account, account: Option<&str>) -> bool {
        let key = (kind.kind.into(), namespace.into(), user.clone(), account.map(Name::from));
        let mut trials = self.trials.lock().unwrap_or_else(PoisonError::into_inner);
        trials.answer(key, |budget| {
            let Some(trial) = Trial::new(kind, namespace, self.namespaces.get(namespace), user, account) else {
                return false;
            };
            let is_wanted = |policy: &Policy| {
                let bindings = self.bindings.get(&policy.reference.name).map_or(&[][..], Vec::as_slice);
                policy.checks_accounts && !policy.check.admits(&trial, bindings, budget)
            };
            self.find(kind, namespace, is_wanted).is_none()
        })
    }

    /// A policy that may reject a source because of its address.
    pub(crate) fn forbids_source(&self, kind: AccountKind<'_>, namespace: &str) -> Option<&Policy> {
        self.find(kind, namespace, |policy| policy.checks_urls)
    }

    fn find(
        &self,
        kind: AccountKind<'_>,
        namespace: &str,
        mut is_wanted: impl FnMut(&Policy) -> bool,
    ) -> Option<&Policy> {
        self.all.iter().find(|policy| {
            let reference = &policy.reference;
            let is_enforced = policy
                .binding_kind
                .as_ref()
                .is_none_or(|binding| self.enforced.contains(&(binding.clone(), reference.name.clone())));
            let is_here = policy.namespace.as_ref().is_none_or(|own| &**own == namespace);
            let has_template = reference.group() != CONSTRAINTS || self.templates.contains(&reference.kind);
            is_enforced && is_here && has_template && policy.scope.matches(kind, namespace) && is_wanted(policy)
        })
    }
}

impl MatchScope {
    fn matches(&self, kind: AccountKind<'_>, namespace: &str) -> bool {
        let or_all = |list: &[Name], item: &str| has(list, item) || has(list, "*");
        match self {
            Self::Resources(rules) => rules.iter().any(|(groups, resources)| {
                or_all(groups, kind.group) && (or_all(resources, kind.plural) || has(resources, "*/*"))
            }),
            Self::Kinds(matches) => matches.iter().any(|(kinds, namespaces)| {
                let is_kind = |own: &Name| own.rsplit('/').next().is_some_and(|own| fits(own, kind.kind));
                let is_here = namespaces.is_empty() || namespaces.iter().any(|pattern| fits(pattern, namespace));
                kinds.iter().any(is_kind) && is_here
            }),
        }
    }
}

/// The objects that an admission policy of Kubernetes matches.
fn resources(object: &Object) -> MatchScope {
    let constraints =
        object.node.at_keys(&["spec", "matchConstraints"]).filter(|all| !has_selector(all, "objectSelector"));
    let rules = |field: &str| constraints.and_then(|all| all.get(field)).map_or(&[][..], Node::items);
    let names = |rule: &Node, field: &str| items(rule.get(field));
    let is_exclusion_of_all = |rule: &Node| {
        let has_all = |field: &str| has(&names(rule, field), "*");
        has_all("apiGroups") && has_all("operations") && (has_all("resources") || has(&names(rule, "resources"), "*/*"))
    };
    if rules("excludeResourceRules").iter().any(is_exclusion_of_all) {
        return MatchScope::Resources(Vec::new());
    }
    let matching = rules("resourceRules").iter().filter(|rule| {
        let is_of_objects = rule.get("scope").and_then(Node::text) != Some("Cluster");
        let operations = names(rule, "operations");
        // The author of an object may give it another name.
        is_of_objects
            && is_written(&operations)
            && rule.get("resourceNames").is_none_or(|names| names.items().is_empty())
    });
    MatchScope::Resources(matching.map(|rule| (names(rule, "apiGroups"), names(rule, "resources"))).collect())
}

/// Returns whether the operations of a rule include a write. Without a list, they include all.
fn is_written(operations: &[Name]) -> bool {
    operations.is_empty() || ["*", "CREATE", "UPDATE"].iter().any(|operation| has(operations, operation))
}

/// Returns whether a selector of labels is set. The author of an object chooses its labels.
fn has_selector(node: &Node, field: &str) -> bool {
    node.get(field).is_some_and(|selector| !selector.entries().is_empty())
}

/// Returns whether the author of an object can evade the match of a rule of Kyverno, by its name or labels or because the
/// rule does not match writes.
fn is_evaded(resources: &Node) -> bool {
    let names = items(resources.get("names"));
    let name = resources.get("name").and_then(Node::shared_text);
    let is_named = names.iter().chain(&name).next().is_some() && !names.iter().chain(&name).any(|name| &**name == "*");
    is_named || has_selector(resources, "selector") || !is_written(&items(resources.get("operations")))
}

/// Returns whether a rule of Kyverno excludes all kinds.
fn excludes_all(rule: &Node) -> bool {
    let listed = ["any", "all"].iter().filter_map(|key| rule.at_keys(&["exclude", key])).flat_map(Node::items);
    let mut excluded = listed.chain(rule.get("exclude"));
    excluded.any(|one| {
        let is_alone = one.entries().len() == 1;
        let resources = one.get("resources").filter(|resources| is_alone && resources.entries().len() == 1);
        resources.is_some_and(|resources| has(&items(resources.get("kinds")), "*"))
    })
}

/// Returns whether the match of a constraint of Gatekeeper includes no object of a namespace, or only objects with labels.
fn is_evaded_constraint(matching: &Node) -> bool {
    matching.get("scope").and_then(Node::text) == Some("Cluster")
        || has(&items(matching.get("excludedNamespaces")), "*")
        || has_selector(matching, "labelSelector")
}

/// Returns whether no object can violate the expressions of a policy: a condition is always false, or each validation is
/// always true.
fn never_refuses(spec: &Node) -> bool {
    let expressions = |field: &str| -> Vec<&str> {
        let all = spec.get(field).map_or(&[][..], Node::items);
        all.iter().filter_map(|one| one.get("expression")?.text()).collect()
    };
    let validations = expressions("validations");
    let environment = ["object", "oldObject", "request", "params", "namespaceObject", "authorizer", "variables"]
        .into_iter()
        .fold(Environment::new(None), |environment, name| environment.with(name, Type::Dyn));
    let mut budget = Budget::new(MAX_COST);
    let mut always = |text: &&str, expected: bool| {
        let result = environment.compile(text).ok().map(|program| program.evaluate(&[], &mut budget).result);
        matches!(result, Some(Ok(cel::Value::Bool(value))) if value == expected)
    };
    expressions("matchConditions").iter().any(|text| always(text, false))
        || (!validations.is_empty() && validations.iter().all(|text| always(text, true)))
}

fn items(list: Option<&Node>) -> Vec<Name> {
    list.map_or(&[][..], Node::items).iter().filter_map(Node::shared_text).collect()
}

fn has(list: &[Name], item: &str) -> bool {
    list.iter().any(|own| &**own == item)
}

/// Returns whether a constraint denies requests to the webhook of Gatekeeper.
fn denies_in_webhook(constraint: &Object) -> bool {
    let actions = constraint.node.at_keys(&["spec", "scopedEnforcementActions"]).map_or(&[][..], Node::items);
    actions.iter().filter(|one| one.get("action").and_then(Node::text) == Some("deny")).any(|one| {
        let mut points = one.get("enforcementPoints").map_or(&[][..], Node::items).iter();
        points.any(|point| matches!(point.get("name").and_then(Node::text), Some("*" | "validation.gatekeeper.sh")))
    })
}

/// Returns whether a template of constraints has a rule for violations, in Rego or as expressions.
fn may_violate(template: &Node) -> bool {
    ["violation", "K8sNativeValidation"].iter().any(|word| mentions(template, word))
}

/// Returns whether a node mentions `serviceAccountName`, and whether it mentions `url`.
fn checks(node: &Node) -> (bool, bool) {
    (mentions(node, FIELD), mentions(node, URL))
}

/// Returns whether the checks of a policy mention a field.
fn mentions(node: &Node, field: &str) -> bool {
    match &node.value {
        Value::Scalar(text, _) => text.lines().any(|line| line.contains(field) && !line.trim_start().starts_with('#')),
        Value::Seq(items) => items.iter().any(|item| mentions(item, field)),
        Value::Map(entries) => {
            // The pattern `*` of Kyverno matches any value.
            let is_any = |entry: &&Entry| entry.key.contains(field) && entry.node.text() == Some("*");
            let mut checks = entries.iter().filter(|entry| !DESCRIPTIONS.contains(&&*entry.key) && !is_any(entry));
            checks.any(|entry| entry.key.contains(field) || mentions(&entry.node, field))
        }
    }
}
