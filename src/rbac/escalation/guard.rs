//! The API server's guard against escalation: who writes a role or a binding must have what it gives, or be allowed to
//! `escalate` or to `bind`.
//!
//! Source: the policy based storages below `k8s.io/kubernetes/pkg/registry/rbac`. Whether somebody may write any role or
//! binding at all is asked before, as for every resource.

use crate::flux::Applied;
use crate::kube::groups;
use crate::rbac::authz::answer::Answer;
use crate::rbac::authz::cluster::Rbac;
use crate::rbac::authz::request::Request;
use crate::rbac::authz::role::{Binding, Role};
use crate::rbac::authz::rule::{Rule, covers};
use crate::rbac::authz::subject::Account;
use crate::text::Span;
use crate::yaml::Name;

/// What the guard says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// It lets the role or binding through.
    Passed,
    /// It gives more than its writer has.
    Refused,
    /// That cannot be known here, and why.
    Unknown(String),
}

impl Rbac {
    /// Whether an account passes the guard with a role: a new one, or another one's new rules.
    pub fn may_write_role(&self, account: &Account, role: &Role) -> Guard {
        let resource = if role.namespace.is_empty() { "clusterroles" } else { "roles" };
        let request = Request::new("escalate", groups::RBAC, resource).in_namespace(&role.namespace).named(&role.name);
        self.allowed_or(account, &request, || {
            let guard = self.has(account, &role.namespace, role.rules.iter().map(|rule| &**rule));
            match guard {
                // What gathers others may come to have anything.
                Guard::Passed if !role.gathers.is_empty() => self.has(account, "", everything().iter()),
                guard => guard,
            }
        })
    }

    /// Whether an account passes the guard with a binding.
    pub fn may_write_binding(&self, account: &Account, binding: &Binding) -> Guard {
        let resource = if binding.role.is_cluster_role { "clusterroles" } else { "roles" };
        let request =
            Request::new("bind", groups::RBAC, resource).in_namespace(&binding.namespace).named(&binding.role.name);
        self.allowed_or(account, &request, || {
            if self.role_at(binding).is_some() {
                return self.has(account, &binding.namespace, self.rules(binding).map(|(rule, _)| rule));
            }
            match self.unseen.role(if binding.role.is_cluster_role { "" } else { &binding.namespace }) {
                Some(who) => Guard::Unknown(format!("{}, which {who} may bring", binding.role_name())),
                None => Guard::Refused,
            }
        })
    }

    /// Whether an account passes the guard with an object; every other kind than roles and bindings does.
    pub fn may_write(&self, account: &Account, applied: &Applied<'_>) -> Guard {
        let object = applied.object;
        let place = |span: &Span| applied.by.place(span);
        let own = applied.namespace().unwrap_or("default");
        match (object.group(), object.kind()) {
            (groups::RBAC, "Role") => self.may_write_role(account, &Role::of(object, own, place)),
            (groups::RBAC, "ClusterRole") => self.may_write_role(account, &Role::of(object, "", place)),
            (groups::RBAC, kind @ ("RoleBinding" | "ClusterRoleBinding")) => {
                let namespace = if kind == "RoleBinding" { own } else { "" };
                let binding = Binding::of(object, namespace, place);
                binding.map_or(Guard::Passed, |binding| self.may_write_binding(account, &binding))
            }
            _ => Guard::Passed,
        }
    }

    fn allowed_or(&self, account: &Account, request: &Request<'_>, otherwise: impl FnOnce() -> Guard) -> Guard {
        match (self.can(account, request), otherwise) {
            (Answer::Allowed(_), _) => Guard::Passed,
            (Answer::Denied, otherwise) => otherwise(),
            (Answer::Unknown(why), otherwise) => match otherwise() {
                Guard::Passed => Guard::Passed,
                Guard::Refused | Guard::Unknown(_) => Guard::Unknown(why),
            },
        }
    }

    /// Whether an account has what rules allow, in a namespace or with the empty one in the whole cluster.
    pub(crate) fn has<'a>(
        &self,
        account: &Account,
        namespace: &str,
        wanted: impl Iterator<Item = &'a Rule> + Clone,
    ) -> Guard {
        let subjects = account.subjects();
        let scopes: &[&str] = if namespace.is_empty() { &[""] } else { &["", namespace] };
        let bindings =
            scopes.iter().flat_map(|scope| subjects.iter().flat_map(|subject| self.bindings_in(subject, scope)));
        let bindings: Vec<&Binding> = bindings.collect();
        let own = bindings.iter().flat_map(|binding| self.rules(binding).map(|(rule, _)| rule));
        match covers(&own, wanted) {
            Some(true) => Guard::Passed,
            Some(false) => {
                let unknown = bindings.iter().find_map(|binding| self.unknown_of(binding));
                unknown.map_or(Guard::Refused, Guard::Unknown)
            }
            None => Guard::Unknown("there are too many rules to compare".to_owned()),
        }
    }

    /// Why a binding may give more than is seen.
    fn unknown_of(&self, binding: &Binding) -> Option<String> {
        let Some(role) = self.role(binding) else {
            let who = self.unseen.role(if binding.role.is_cluster_role { "" } else { &binding.namespace })?;
            return Some(format!("{}, which {who} may bring", binding.role_name()));
        };
        let is_open = role.is_opaque || self.role_at(binding).is_some_and(|at| self.gathers_too_much(at));
        is_open.then(|| format!("{} has values that are not known", binding.role_name()))
    }
}

/// The rules that only somebody has who may do everything.
pub(crate) fn everything() -> [Rule; 2] {
    let all = || vec![Name::from("*")];
    [
        Rule { verbs: all(), groups: all(), resources: all(), ..Rule::default() },
        Rule { verbs: all(), urls: all(), ..Rule::default() },
    ]
}
