//! Trials: a policy that admits an object of a tenant does not forbid the object, whatever fields the policy mentions.

use crate::base::finding::Severity;
use crate::cel::Budget;
use crate::kube::Object;
use crate::kube::selector::Selector;
use crate::policy::{LANGUAGES, Objects, Policies as Evaluated, Request};
use crate::rbac::model::account_kind::AccountKind;
use crate::rbac::model::subject::Account;
use crate::text::File;
use crate::yaml::{Node, parse};

/// The maximum cost of the expressions of a policy in one trial.
const MAX_COST: u64 = 10_000;

/// The label that the API server adds to each namespace.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// The creation of an object that names a service account, or none.
#[derive(Debug)]
pub(crate) struct Trial<'a> {
    pub(super) kind: AccountKind<'a>,
    pub(super) namespace: &'a str,
    /// The Namespace, if the cluster receives it.
    pub(super) namespace_object: Option<&'a Object>,
    /// The account that creates the object.
    pub(super) user: &'a Account,
    pub(super) object: Object,
}

impl<'a> Trial<'a> {
    /// The creation of an object of a kind; `None` if the kind is not one of Flux.
    pub(super) fn new(
        kind: AccountKind<'a>,
        namespace: &'a str,
        namespace_object: Option<&'a Object>,
        user: &'a Account,
        account: Option<&str>,
    ) -> Option<Self> {
        let source = "{kind: GitRepository, name: x}";
        let (version, spec) = match kind.kind {
            "Kustomization" => ("v1", format!("interval: 1h, path: ./, prune: true, sourceRef: {source}")),
            "HelmRelease" => ("v2", format!("interval: 1h, chart: {{spec: {{chart: ./x, sourceRef: {source}}}}}")),
            "ResourceSet" => ("v1", "resources: []".to_owned()),
            _ => return None,
        };
        let account = account.map(|name| format!(", serviceAccountName: {name:?}")).unwrap_or_default();
        let text = format!(
            "apiVersion: {}/{version}\nkind: {}\nmetadata: {{name: x, namespace: {namespace:?}}}\nspec: {{{spec}{account}}}\n",
            kind.group, kind.kind
        );
        let parsed = parse(&File::new("", text));
        let object = Object::new(parsed.documents.into_iter().next()?.node)?;
        Some(Self { kind, namespace, namespace_object, user, object })
    }

    /// Returns whether policies certainly admit the object.
    pub(super) fn is_admitted_by(&self, policies: &dyn Evaluated) -> bool {
        let user = format!("system:serviceaccount:{}:{}", self.user.namespace, self.user.name);
        let request = Request {
            object: &self.object,
            resource: self.kind.plural,
            namespace: Some(self.namespace),
            namespace_object: self.namespace_object,
            user: Some(&user),
            operation: "CREATE",
        };
        let decision = policies.decide(&request, &UnknownObjects, &mut Budget::new(MAX_COST));
        let is_denied = decision.violations.iter().any(|violation| violation.severity == Severity::Error);
        !is_denied && decision.unknown.is_empty() && decision.over_limit.is_none()
    }

    /// Returns whether a selector selects the namespace; `None` if its labels are unknown.
    pub(super) fn is_selected_by(&self, selector: &Node) -> Option<bool> {
        let selector = Selector::of(selector)?;
        let of_name = |key: &str| (key == NAME_LABEL).then_some(self.namespace);
        match self.namespace_object {
            Some(object) => Some(selector.selects(|key| of_name(key).or_else(|| object.label(key)))),
            None if selector.keys().all(|key| key == NAME_LABEL) => Some(selector.selects(of_name)),
            None => None,
        }
    }
}

/// Objects that only the cluster knows.
struct UnknownObjects;

impl<'a> Objects<'a> for UnknownObjects {
    fn find(&self, _: &str, _: &str, _: &str, _: &str) -> Option<&'a Object> {
        None
    }

    fn of_kind(&self, _: &str, _: &str) -> Vec<&'a Object> {
        Vec::new()
    }

    fn may_have(&self, _: &str, _: &str, _: &str, _: Option<&str>) -> bool {
        true
    }
}

/// Returns whether a policy with expressions certainly admits an object. A policy that does not compile may have functions of
/// another program.
pub(super) fn is_admitted_by_expressions(policy: &Object, trial: &Trial<'_>) -> bool {
    let binding = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: x}\n\
                   spec: {policyName: x, validationActions: [Deny]}\n";
    let parsed = parse(&File::new("", binding));
    let Some(binding) = parsed.documents.into_iter().next().and_then(|one| Object::new(one.node)) else { return false };
    LANGUAGES.iter().all(|language| {
        let (policies, findings) = language.read(&[policy, &binding]);
        findings.is_empty() && !policies.is_empty() && trial.is_admitted_by(&*policies)
    })
}

/// A `ValidatingAdmissionPolicy` with the name `x` and some fields of `spec`.
pub(super) fn policy_of<'a>(fields: impl IntoIterator<Item = (&'static str, &'a Node)>) -> Option<Object> {
    let fields: Vec<(&str, &Node)> = fields.into_iter().collect();
    let keys: Vec<String> = fields.iter().map(|(key, _)| format!("{key}: 0")).collect();
    let text = format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: x}}\nspec: {{{}}}\n",
        keys.join(", ")
    );
    let mut node = parse(&File::new("", text)).documents.into_iter().next()?.node;
    let spec = node.get("spec")?;
    let entries = spec.entries().iter().zip(&fields).map(|(entry, (_, value))| entry.with_node((*value).clone()));
    let spec = Node { value: crate::yaml::Value::Map(entries.collect::<Vec<_>>().into()), origin: spec.origin.clone() };
    let entries = node.entries().iter().map(|entry| match &*entry.key {
        "spec" => entry.with_node(spec.clone()),
        _ => entry.clone(),
    });
    node = Node { value: crate::yaml::Value::Map(entries.collect::<Vec<_>>().into()), origin: node.origin.clone() };
    Object::new(node)
}
