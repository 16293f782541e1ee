//! Trials: a policy that admits an object of a tenant does not forbid the object, whatever fields the policy mentions.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::base::finding::Severity;
use crate::cel::Budget;
use crate::kube::Object;
use crate::kube::selector::Selector;
use crate::policy::{LANGUAGES, Objects, Policies as Evaluated, Request};
use crate::rbac::model::account_kind::AccountKind;
use crate::rbac::model::subject::Account;
use crate::text::File;
use crate::yaml::{Name, Node, parse};

/// The maximum cost of the expressions of a policy in one trial.
const MAX_COST: u64 = 10_000;

/// The maximum cost of all trials of a cluster.
const MAX_COST_OF_ALL: u64 = 2_000_000;

/// The cost of a trial beside the cost of its policies.
const COST_OF_TRIAL: usize = 100;

/// The trials of a cluster. Afterwards, every policy may forbid every object.
#[derive(Debug)]
pub(super) struct Trials {
    budget: Budget,
    known: BTreeMap<TrialKey, bool>,
}

/// The kind of the object, its namespace, the account that creates it, and the account that it names.
type TrialKey = (Name, Name, Account, Option<Name>);

impl Default for Trials {
    fn default() -> Self {
        Self { budget: Budget::new(MAX_COST_OF_ALL), known: BTreeMap::new() }
    }
}

impl Trials {
    /// The answer of a trial, which runs once and spends the budget; no if the trials cost too much.
    pub(super) fn answer(&mut self, key: TrialKey, run: impl FnOnce(&mut Budget) -> bool) -> bool {
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        if self.budget.spend(COST_OF_TRIAL).is_err() {
            return false;
        }
        let answer = run(&mut self.budget);
        self.known.insert(key, answer);
        answer
    }
}

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

    /// Returns whether policies certainly admit the object, within a budget.
    fn is_admitted_by(&self, policies: &dyn Evaluated, budget: &mut Budget) -> bool {
        let user = format!("system:serviceaccount:{}:{}", self.user.namespace, self.user.name);
        let request = Request {
            object: &self.object,
            resource: self.kind.plural,
            namespace: Some(self.namespace),
            namespace_object: self.namespace_object,
            user: Some(&user),
            operation: "CREATE",
        };
        let mut own = Budget::new(MAX_COST.min(budget.limit_of_expression()));
        let decision = policies.decide(&request, &UnknownObjects, &mut own);
        budget.spend_of(&own);
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

/// The expressions of a policy. They are compiled once, for the first trial.
#[derive(Debug, Clone, Default)]
pub(super) struct Compiled(OnceLock<Option<Vec<Arc<dyn Evaluated>>>>);

impl Compiled {
    /// Returns whether the policies that `compile` returns certainly admit an object.
    pub(super) fn admit(
        &self,
        trial: &Trial<'_>,
        budget: &mut Budget,
        compile: impl FnOnce() -> Option<Vec<Arc<dyn Evaluated>>>,
    ) -> bool {
        let policies = self.0.get_or_init(compile).as_ref();
        policies.is_some_and(|all| all.iter().all(|one| trial.is_admitted_by(&**one, budget)))
    }
}

/// Compiles policies and bindings.
pub(super) fn compile(objects: &[&Object]) -> Vec<Arc<dyn Evaluated>> {
    LANGUAGES.iter().map(|language| Arc::from(language.read(objects).0)).collect()
}

/// Compiles a policy that needs no binding. A policy that does not compile may have functions of another program.
pub(super) fn compile_unbound(policy: &Object) -> Option<Vec<Arc<dyn Evaluated>>> {
    let binding = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: x}\n\
                   spec: {policyName: x, validationActions: [Deny]}\n";
    let parsed = parse(&File::new("", binding));
    let binding = parsed.documents.into_iter().next().and_then(|one| Object::new(one.node))?;
    let all = LANGUAGES.iter().map(|language| {
        let (policies, findings) = language.read(&[policy, &binding]);
        (findings.is_empty() && !policies.is_empty()).then(|| Arc::from(policies))
    });
    all.collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn key(account: usize) -> TrialKey {
        ("Kustomization".into(), "a".into(), Account::new("a", "flux"), Some(format!("x{account}").into()))
    }

    #[test]
    fn an_equal_trial_runs_once() {
        let (mut trials, mut runs) = (Trials::default(), 0);
        for account in [1, 2, 1, 2, 1] {
            let answer = trials.answer(key(account), |_| {
                runs += 1;
                account == 1
            });
            assert_eq!(answer, account == 1);
        }
        assert_eq!(runs, 2);
    }

    #[test]
    fn expensive_trials_end_with_the_budget_of_the_cluster() {
        let (mut trials, mut runs) = (Trials::default(), 0_u64);
        let mut run = |budget: &mut Budget| {
            runs += 1;
            budget.spend_of(&spent(MAX_COST));
            true
        };
        let answers: Vec<bool> = (0..1_000).map(|account| trials.answer(key(account), &mut run)).collect();
        let admitted = answers.iter().take_while(|answer| **answer).count();
        assert!(answers.iter().skip(admitted).all(|answer| !answer), "{answers:?}");
        assert!(runs <= MAX_COST_OF_ALL / MAX_COST, "{runs}");
        assert!(runs > MAX_COST_OF_ALL / MAX_COST / 2, "{runs}");
    }

    fn spent(steps: u64) -> Budget {
        let mut budget = Budget::new(steps);
        budget.end();
        budget
    }

    #[test]
    fn a_policy_is_compiled_once() {
        let (compiled, mut compilations) = (Compiled::default(), 0);
        let kind =
            AccountKind { group: "kustomize.toolkit.fluxcd.io", kind: "Kustomization", plural: "kustomizations" };
        let user = Account::new("a", "flux");
        let trial = Trial::new(kind, "a", None, &user, Some("other")).unwrap();
        for _ in 0..3 {
            let compile = || {
                compilations += 1;
                Some(Vec::new())
            };
            assert!(compiled.admit(&trial, &mut Budget::new(MAX_COST), compile));
        }
        assert_eq!(compilations, 1);
    }
}
