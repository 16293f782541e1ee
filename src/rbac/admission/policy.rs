//! Admission policies that may forbid somebody to name a service account: nothing is claimed that one may forbid.

use crate::base::finding::ObjectRef;
use crate::flux::Applied;
use crate::kube::Object;
use crate::text::Span;
use crate::yaml::{Name, Node, Value};

/// The field that such a policy looks at.
const FIELD: &str = "serviceAccountName";

/// The policies of a cluster that may decide which account an object names.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    all: Vec<Policy>,
    /// The names of policies that a binding enforces, with the kind of binding.
    enforced: Vec<(Name, Name)>,
    /// The kinds of constraints whose templates look at something else.
    harmless: Vec<Name>,
}

/// A policy that looks at the account that objects name.
#[derive(Debug, Clone)]
pub struct Policy {
    /// What it is.
    pub reference: ObjectRef,
    /// Where it stands.
    pub place: Span,
    /// The namespace that it is for; `None` for all.
    namespace: Option<Name>,
    /// What it looks at: groups and resources, or kinds.
    about: About,
    /// The binding that enforces it, where it needs one.
    needs: Option<Name>,
}

#[derive(Debug, Clone)]
enum About {
    /// Groups and resources, for each rule.
    Resources(Vec<(Vec<Name>, Vec<Name>)>),
    /// Kinds, as Kyverno writes them, and the namespaces that each match is narrowed to.
    Kinds(Vec<(Vec<Name>, Vec<Name>)>),
}

/// A kind of object that names an account.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) group: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) plural: &'a str,
}

impl Policies {
    pub(crate) fn take(&mut self, applied: &Applied<'_>) {
        let object = applied.object;
        let text = |keys: &[&str]| object.node.at_keys(keys).and_then(Node::shared_text);
        match (object.group(), object.kind()) {
            ("admissionregistration.k8s.io", kind @ ("ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy")) => {
                self.add(applied, resources(object), Some(format!("{kind}Binding").into()), None);
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
                    self.add(applied, resources(object), None, None);
                }
            }
            ("kyverno.io", "ClusterPolicy") => self.add_kyverno(applied, None),
            ("kyverno.io", "Policy") => self.add_kyverno(applied, applied.namespace()),
            ("constraints.gatekeeper.sh", _) => {
                let acts = text(&["spec", "enforcementAction"]).is_none_or(|action| &*action == "deny");
                if acts {
                    let kinds = object.node.at_keys(&["spec", "match", "kinds"]).map_or(&[][..], Node::items);
                    let kinds = kinds.iter().map(|item| (items(item.get("kinds")), Vec::new())).collect();
                    self.push(applied, About::Kinds(kinds), None, None);
                }
            }
            ("templates.gatekeeper.sh", "ConstraintTemplate") if !mentions(&object.node) => {
                self.harmless.extend(text(&["spec", "crd", "spec", "names", "kind"]));
            }
            _ => {}
        }
    }

    fn add_kyverno(&mut self, applied: &Applied<'_>, namespace: Option<&str>) {
        let object = applied.object;
        let of_all = object.text_at(&["spec", "validationFailureAction"]).unwrap_or("Audit");
        for rule in object.node.at_keys(&["spec", "rules"]).map_or(&[][..], Node::items) {
            let own = rule.at_keys(&["validate", "failureAction"]).and_then(Node::text).unwrap_or(of_all);
            let enforces = own.eq_ignore_ascii_case("enforce") && rule.get("validate").is_some_and(mentions);
            if !enforces && !rule.get("mutate").is_some_and(mentions) {
                continue;
            }
            let Some(matching) = rule.get("match") else { continue };
            let listed = ["any", "all"].iter().filter_map(|key| matching.get(key)).flat_map(Node::items);
            let resources = listed.chain([matching]).filter_map(|one| one.get("resources"));
            let about = resources.map(|one| (items(one.get("kinds")), items(one.get("namespaces")))).collect();
            self.push(applied, About::Kinds(about), None, namespace.map(Name::from));
        }
    }

    /// Adds a policy if it looks at the field.
    fn add(&mut self, applied: &Applied<'_>, about: About, needs: Option<Name>, namespace: Option<Name>) {
        if applied.object.node.get("spec").is_some_and(mentions) {
            self.push(applied, about, needs, namespace);
        }
    }

    fn push(&mut self, applied: &Applied<'_>, about: About, needs: Option<Name>, namespace: Option<Name>) {
        let (reference, place) = (applied.object.reference(), applied.by.place(applied.object.span()));
        self.all.push(Policy { reference, place, namespace, about, needs });
    }

    /// The policy that may forbid an object of a kind, in a namespace, to name an account.
    pub(crate) fn forbids(&self, named: Named<'_>, namespace: &str) -> Option<&Policy> {
        self.all.iter().find(|policy| {
            let reference = &policy.reference;
            let is_enforced = policy
                .needs
                .as_ref()
                .is_none_or(|kind| self.enforced.iter().any(|(bound, name)| bound == kind && *name == reference.name));
            let is_here = policy.namespace.as_ref().is_none_or(|own| &**own == namespace);
            is_enforced
                && is_here
                && !self.harmless.contains(&reference.kind)
                && policy.about.is_about(named, namespace)
        })
    }
}

impl About {
    fn is_about(&self, named: Named<'_>, namespace: &str) -> bool {
        let or_all = |list: &[Name], item: &str| has(list, item) || has(list, "*");
        match self {
            Self::Resources(rules) => rules.iter().any(|(groups, resources)| {
                or_all(groups, named.group) && (or_all(resources, named.plural) || has(resources, "*/*"))
            }),
            Self::Kinds(matches) => matches.iter().any(|(kinds, namespaces)| {
                let is_kind = |kind: &Name| kind.rsplit('/').next().is_some_and(|kind| fits(kind, named.kind));
                let is_here = namespaces.is_empty() || namespaces.iter().any(|pattern| fits(pattern, namespace));
                kinds.iter().any(is_kind) && is_here
            }),
        }
    }
}

/// What a policy of Kubernetes' own form is about.
fn resources(object: &Object) -> About {
    let rules = object.node.at_keys(&["spec", "matchConstraints", "resourceRules"]).map_or(&[][..], Node::items);
    About::Resources(rules.iter().map(|rule| (items(rule.get("apiGroups")), items(rule.get("resources")))).collect())
}

fn items(list: Option<&Node>) -> Vec<Name> {
    list.map_or(&[][..], Node::items).iter().filter_map(Node::shared_text).collect()
}

fn has(list: &[Name], item: &str) -> bool {
    list.iter().any(|own| &**own == item)
}

/// Whether a text fits a pattern with at most a few `*`: what stands between these must come in order.
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

/// Whether the field is spoken of.
fn mentions(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(text, _) => text.contains(FIELD),
        Value::Seq(items) => items.iter().any(mentions),
        Value::Map(entries) => entries.iter().any(|entry| entry.key.contains(FIELD) || mentions(&entry.node)),
    }
}
