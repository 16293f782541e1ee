//! The API server's check against privilege escalation. The writer of a role or binding must have the rights that the
//! role or binding grants, or the verb `escalate` or `bind`.
//!
//! Source: the policy-based storages in `k8s.io/kubernetes/pkg/registry/rbac`. Before this check, the API server
//! authorizes the request itself, as for every resource.

use crate::flux::Applied;
use crate::kube::groups;
use crate::rbac::authz::authorizer::Answer;
use crate::rbac::authz::cluster::Rbac;
use crate::rbac::model::request::Request;
use crate::rbac::model::role::{Binding, Role};
use crate::rbac::model::rule::{Rule, covers};
use crate::rbac::model::subject::Account;
use crate::text::Span;
use crate::yaml::Name;

/// The result of the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// The role or binding is accepted.
    Passed,
    /// The role or binding grants more rights than its writer has.
    Refused,
    /// The result is unknown, for this reason.
    Unknown(String),
}

impl Rbac {
    /// Returns whether this check allows an account to create or update a role.
    pub fn may_write_role(&self, account: &Account, role: &Role) -> Guard {
        let resource = if role.namespace.is_empty() { "clusterroles" } else { "roles" };
        let request = Request::new("escalate", groups::RBAC, resource).in_namespace(&role.namespace).named(&role.name);
        self.allowed_or(account, &request, || {
            let guard = self.has(account, &role.namespace, role.rules.iter().map(|rule| &**rule));
            match guard {
                // A role that aggregates other roles may later contain any rule.
                Guard::Passed if !role.aggregates.is_empty() => self.has(account, "", everything().iter()),
                guard => guard,
            }
        })
    }

    /// Returns whether this check allows an account to create or update a binding.
    pub fn may_write_binding(&self, account: &Account, binding: &Binding) -> Guard {
        let resource = if binding.role.is_cluster_role { "clusterroles" } else { "roles" };
        let request =
            Request::new("bind", groups::RBAC, resource).in_namespace(&binding.namespace).named(&binding.role.name);
        self.allowed_or(account, &request, || {
            if self.role_at(binding).is_some() {
                return self.has(account, &binding.namespace, self.rules(binding).map(|(rule, _)| rule));
            }
            match self.unknown_role(binding) {
                Some(source) => Guard::Unknown(format!("{}, which {source} may contain", binding.role_name())),
                None => Guard::Refused,
            }
        })
    }

    /// Returns whether this check allows an account to write an object. The check accepts all kinds other than roles
    /// and bindings.
    pub fn may_write(&self, account: &Account, applied: &Applied<'_>) -> Guard {
        let object = applied.object;
        let place = |span: &Span| applied.by.place(span);
        let own = applied.namespace().unwrap_or("default");
        match (object.group(), object.kind()) {
            (groups::RBAC, "Role") => self.may_write_role(account, &Role::read(object, own, place)),
            (groups::RBAC, "ClusterRole") => self.may_write_role(account, &Role::read(object, "", place)),
            (groups::RBAC, kind @ ("RoleBinding" | "ClusterRoleBinding")) => {
                let namespace = if kind == "RoleBinding" { own } else { "" };
                let binding = Binding::read(object, namespace, place);
                binding.map_or(Guard::Passed, |binding| self.may_write_binding(account, &binding))
            }
            _ => Guard::Passed,
        }
    }

    fn allowed_or(&self, account: &Account, request: &Request<'_>, otherwise: impl FnOnce() -> Guard) -> Guard {
        match (self.can(account, request), otherwise) {
            (Answer::Allowed(_), _) => Guard::Passed,
            (Answer::Denied, otherwise) => otherwise(),
            (Answer::Unknown(reason), otherwise) => match otherwise() {
                Guard::Passed => Guard::Passed,
                Guard::Refused | Guard::Unknown(_) => Guard::Unknown(reason),
            },
        }
    }

    /// Returns whether an account has all rights of some rules in a namespace, or in the whole cluster if `namespace`
    /// is empty.
    pub(crate) fn has<'a>(
        &self,
        account: &Account,
        namespace: &str,
        requested: impl Iterator<Item = &'a Rule> + Clone,
    ) -> Guard {
        let subjects = account.subjects();
        let scopes: &[&str] = if namespace.is_empty() { &[""] } else { &["", namespace] };
        let bindings =
            scopes.iter().flat_map(|scope| subjects.iter().flat_map(|subject| self.bindings_in(subject, scope)));
        let bindings: Vec<&Binding> = bindings.collect();
        let own = bindings.iter().flat_map(|binding| self.rules(binding).map(|(rule, _)| rule));
        match covers(&own, requested) {
            Some(true) => Guard::Passed,
            Some(false) => {
                let unknown = bindings.iter().find_map(|binding| self.unknown_rights(binding));
                unknown.map_or(Guard::Refused, Guard::Unknown)
            }
            None => Guard::Unknown("too many rules to compare".to_owned()),
        }
    }
}

/// The rules that allow everything.
pub(super) fn everything() -> [Rule; 2] {
    let all = || vec![Name::from("*")];
    [
        Rule { verbs: all(), groups: all(), resources: all(), ..Rule::default() },
        Rule { verbs: all(), urls: all(), ..Rule::default() },
    ]
}
