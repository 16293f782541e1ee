//! Admission policies that may reject an object because of the service account that it names.
//!
//! An escalation that a policy may forbid is reported as a warning, since only the cluster evaluates the policy.

use crate::base::finding::ObjectRef;
use crate::flux::Applied;
use crate::kube::Object;
use crate::rbac::model::account_kind::AccountKind;
use crate::text::Span;
use crate::yaml::{Name, Node, Value};

/// The field that a policy for service accounts checks.
const FIELD: &str = "serviceAccountName";

/// The field that a policy for sources checks.
const URL: &str = "url";

/// The group of the constraints of Gatekeeper.
const CONSTRAINTS: &str = "constraints.gatekeeper.sh";

/// The fields of a policy that only describe it, or that describe objects. No check reads a service account there.
const DESCRIPTIONS: [&str; 5] = ["description", "message", "messageExpression", "metadata", "name"];

/// The policies of a cluster that may restrict which account an object names.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    all: Vec<Policy>,
    /// The enforced policies: the kind of the binding and the name of the policy.
    enforced: Vec<(Name, Name)>,
    /// The kinds of constraints whose templates check the fields. Gatekeeper has no other constraints.
    templates: Vec<Name>,
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
            ("admissionregistration.k8s.io", kind @ ("ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy")) => {
                self.add_if_related(applied, resources(object), Some(format!("{kind}Binding").into()), None);
            }
            ("admissionregistration.k8s.io", kind @ "ValidatingAdmissionPolicyBinding") => {
                let actions = items(object.node.at_keys(&["spec", "validationActions"]));
                if let Some(name) = text(&["spec", "policyName"]).filter(|_| has(&actions, "Deny")) {
                    self.enforced.push((kind.into(), name));
                }
            }
            ("admissionregistration.k8s.io", kind @ "MutatingAdmissionPolicyBinding") => {
                self.enforced.extend(text(&["spec", "policyName"]).map(|name| (kind.into(), name)));
            }
            ("policies.kyverno.io", _) => {
                let actions = items(object.node.at_keys(&["spec", "validationActions"]));
                if actions.is_empty() || has(&actions, "Deny") {
                    self.add_if_related(applied, resources(object), None, None);
                }
            }
            ("kyverno.io", "ClusterPolicy") => self.add_kyverno(applied, None),
            ("kyverno.io", "Policy") => self.add_kyverno(applied, applied.namespace()),
            (CONSTRAINTS, _) => {
                let is_enforced = text(&["spec", "enforcementAction"]).is_none_or(|action| &*action == "deny");
                if is_enforced {
                    let kinds = object.node.at_keys(&["spec", "match", "kinds"]).map_or(&[][..], Node::items);
                    let kinds = kinds.iter().map(|item| (items(item.get("kinds")), Vec::new())).collect();
                    self.push(applied, (true, true), MatchScope::Kinds(kinds), None, None);
                }
            }
            ("templates.gatekeeper.sh", "ConstraintTemplate") if checks(&object.node) != (false, false) => {
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
            let Some(matching) = rule.get("match") else { continue };
            let listed = ["any", "all"].iter().filter_map(|key| matching.get(key)).flat_map(Node::items);
            let resources = listed.chain([matching]).filter_map(|one| one.get("resources"));
            let scope = resources.map(|one| (items(one.get("kinds")), items(one.get("namespaces")))).collect();
            self.push(applied, checked, MatchScope::Kinds(scope), None, namespace.map(Name::from));
        }
    }

    /// Adds a policy, if it mentions `serviceAccountName` or `url`.
    fn add_if_related(
        &mut self,
        applied: &Applied<'_>,
        scope: MatchScope,
        binding_kind: Option<Name>,
        namespace: Option<Name>,
    ) {
        let checked = applied.object.node.get("spec").map(checks).unwrap_or_default();
        if checked != (false, false) {
            self.push(applied, checked, scope, binding_kind, namespace);
        }
    }

    fn push(
        &mut self,
        applied: &Applied<'_>,
        (checks_accounts, checks_urls): (bool, bool),
        scope: MatchScope,
        binding_kind: Option<Name>,
        namespace: Option<Name>,
    ) {
        let (reference, place) = (applied.object.reference(), applied.by.place(applied.object.span()));
        self.all.push(Policy { reference, place, namespace, checks_accounts, checks_urls, scope, binding_kind });
    }

    /// A policy that may reject an object of a kind in a namespace because of the account that the object names.
    pub(crate) fn forbids(&self, kind: AccountKind<'_>, namespace: &str) -> Option<&Policy> {
        self.find(kind, namespace, |policy| policy.checks_accounts)
    }

    /// A policy that may reject a source because of its address.
    pub(crate) fn forbids_source(&self, kind: AccountKind<'_>, namespace: &str) -> Option<&Policy> {
        self.find(kind, namespace, |policy| policy.checks_urls)
    }

    fn find(&self, kind: AccountKind<'_>, namespace: &str, is_wanted: impl Fn(&Policy) -> bool) -> Option<&Policy> {
        self.all.iter().filter(|policy| is_wanted(policy)).find(|policy| {
            let reference = &policy.reference;
            let is_enforced = policy.binding_kind.as_ref().is_none_or(|binding| {
                self.enforced.iter().any(|(enforcing, name)| enforcing == binding && *name == reference.name)
            });
            let is_here = policy.namespace.as_ref().is_none_or(|own| &**own == namespace);
            let has_template = reference.group() != CONSTRAINTS || self.templates.contains(&reference.kind);
            is_enforced && is_here && has_template && policy.scope.matches(kind, namespace)
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
    let rules = object.node.at_keys(&["spec", "matchConstraints", "resourceRules"]).map_or(&[][..], Node::items);
    MatchScope::Resources(
        rules.iter().map(|rule| (items(rule.get("apiGroups")), items(rule.get("resources")))).collect(),
    )
}

fn items(list: Option<&Node>) -> Vec<Name> {
    list.map_or(&[][..], Node::items).iter().filter_map(Node::shared_text).collect()
}

fn has(list: &[Name], item: &str) -> bool {
    list.iter().any(|own| &**own == item)
}

/// Returns whether a text matches a pattern with the wildcard `*`.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// Returns whether a node mentions `serviceAccountName`, and whether it mentions `url`.
fn checks(node: &Node) -> (bool, bool) {
    (mentions(node, FIELD), mentions(node, URL))
}

/// Returns whether the checks of a policy mention a field.
fn mentions(node: &Node, field: &str) -> bool {
    match &node.value {
        Value::Scalar(text, _) => text.contains(field),
        Value::Seq(items) => items.iter().any(|item| mentions(item, field)),
        Value::Map(entries) => {
            let mut checks = entries.iter().filter(|entry| !DESCRIPTIONS.contains(&&*entry.key));
            checks.any(|entry| entry.key.contains(field) || mentions(&entry.node, field))
        }
    }
}
