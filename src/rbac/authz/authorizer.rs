//! The answer of the API server's authorizer to a request, with the grant that allows it.

use std::collections::BTreeSet;

use super::cluster::Rbac;
use crate::kube::groups;
use crate::rbac::identity::unknown_rights::UnknownRights;
use crate::rbac::model::kinds::is_shipped;
use crate::rbac::model::request::{Request, Target};
use crate::rbac::model::role::{Binding, Role};
use crate::rbac::model::rule::Rule;
use crate::rbac::model::subject::Account;
use crate::yaml::Name;

/// The binding, role and rule that allow a request.
#[derive(Debug, Clone, Copy)]
pub struct Grant<'a> {
    /// The binding with the account as a subject.
    pub binding: &'a Binding,
    /// The role of the binding.
    pub role: &'a Role,
    /// The rule that allows the request.
    pub rule: &'a Rule,
    /// The role that defines the rule: `role`, or a role that `role` aggregates.
    pub from: &'a Role,
}

/// The answer to a request, as far as the rights are known.
#[derive(Debug, Clone)]
pub enum Answer<'a> {
    /// The request is allowed.
    Allowed(Grant<'a>),
    /// The request is denied.
    Denied,
    /// The answer is unknown, for this reason.
    Unknown(String),
}

impl<'a> Answer<'a> {
    /// The grant, if the request is allowed.
    pub fn grant(self) -> Option<Grant<'a>> {
        match self {
            Self::Allowed(grant) => Some(grant),
            Self::Denied | Self::Unknown(_) => None,
        }
    }

    /// Returns whether the request is allowed.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed(_))
    }
}

impl Rbac {
    /// Returns whether an account may make a request.
    pub fn can(&self, account: &Account, request: &Request<'_>) -> Answer<'_> {
        let subjects = account.subjects();
        let mut unknown = None;
        let scopes = ["", request.namespace()];
        let scopes = if request.namespace().is_empty() { &scopes[..1] } else { &scopes[..] };
        for (scope, subject) in scopes.iter().flat_map(|scope| subjects.iter().map(move |subject| (*scope, subject))) {
            for binding in self.bindings_in(subject, scope) {
                match self.allows(binding, request) {
                    Answer::Denied => {}
                    Answer::Unknown(reason) => {
                        unknown.get_or_insert(reason);
                    }
                    allowed @ Answer::Allowed(_) => return allowed,
                }
            }
        }
        match unknown.or_else(|| self.unknown_bindings(account)) {
            Some(reason) => Answer::Unknown(reason),
            None => Answer::Denied,
        }
    }

    /// Returns whether an account may create any object in a namespace. The shipped rights of all users are ignored.
    pub fn can_create_in(&self, account: &Account, namespace: &str) -> Answer<'_> {
        let subjects = account.subjects();
        let mut unknown = None;
        let scopes = ["", namespace];
        for (scope, subject) in scopes.iter().flat_map(|scope| subjects.iter().map(move |subject| (*scope, subject))) {
            for binding in self.bindings_in(subject, scope) {
                if subject.is_everybody() && !binding.is_written() {
                    continue;
                }
                let Some(role) = self.role(binding) else {
                    unknown = unknown.or_else(|| self.unknown_rights(binding));
                    continue;
                };
                if let Some((rule, from)) = self.rules(binding).find(|(rule, _)| rule.creates()) {
                    return Answer::Allowed(Grant { binding, role, rule, from });
                }
                unknown = unknown.or_else(|| self.unknown_rights(binding));
            }
        }
        match unknown.or_else(|| self.unknown_bindings(account)) {
            Some(reason) => Answer::Unknown(reason),
            None => Answer::Denied,
        }
    }

    /// The namespaces in which an account may create objects, other than the account's own namespace; the empty name is
    /// the whole cluster.
    pub fn foreign_scopes(&self, account: &Account) -> BTreeSet<Name> {
        let subjects = account.subjects();
        let bindings = subjects.iter().flat_map(|subject| {
            self.bindings_of(subject).filter(|binding| !subject.is_everybody() || binding.is_written())
        });
        let bindings = bindings.filter(|binding| binding.namespace != account.namespace);
        let creating = bindings.filter(|binding| self.rules(binding).any(|(rule, _)| rule.creates()));
        creating.map(|binding| binding.namespace.clone()).collect()
    }

    /// Returns whether a binding allows a request in its scope.
    fn allows<'a>(&'a self, binding: &'a Binding, request: &Request<'_>) -> Answer<'a> {
        let Some(at) = self.role_at(binding) else {
            // A binding to a role that does not exist grants nothing.
            return match self.unknown_role(binding) {
                Some(source) => Answer::Unknown(format!("{}, which {source} may contain", binding.role_name())),
                None => Answer::Denied,
            };
        };
        let role = &self.roles[at];
        if let Some((rule, from)) = self.rules_at(at).find(|(rule, _)| rule.allows(request)) {
            return Answer::Allowed(Grant { binding, role, rule, from });
        }
        if self.exceeds_aggregation_limit(at) {
            return Answer::Unknown(format!("{} aggregates too many roles", binding.role_name()));
        }
        if role.is_opaque {
            return Answer::Unknown(format!("{} contains unknown values", binding.role_name()));
        }
        let custom = match request.target {
            Target::Resource(resource) if !is_shipped(resource.group) && !role.aggregates.is_empty() => {
                self.unknown_rights.of_aggregated_roles(resource.group)
            }
            Target::Resource(_) | Target::Path(_) => None,
        };
        match custom {
            Some(source) => Answer::Unknown(format!("{}, for which {source} may contain rules", binding.role_name())),
            None => Answer::Denied,
        }
    }

    /// A source that may create the role of a binding.
    pub(crate) fn unknown_role(&self, binding: &Binding) -> Option<&UnknownRights> {
        let namespace = if binding.role.is_cluster_role { "" } else { &*binding.namespace };
        self.unknown_rights.of_role(namespace, &binding.role.name)
    }

    /// The reason why a binding may grant unknown rights, if any.
    pub(crate) fn unknown_rights(&self, binding: &Binding) -> Option<String> {
        let Some(role) = self.role(binding) else {
            let source = self.unknown_role(binding)?;
            return Some(format!("{}, which {source} may contain", binding.role_name()));
        };
        let is_open = role.is_opaque || self.role_at(binding).is_some_and(|at| self.exceeds_aggregation_limit(at));
        is_open.then(|| format!("{} contains unknown values", binding.role_name()))
    }

    /// The reason why an account may have unknown rights, if any.
    fn unknown_bindings(&self, account: &Account) -> Option<String> {
        if let Some(open) = self.open_binding.map(|at| &self.bindings[at]) {
            return Some(format!("{} `{}` has unknown subjects", open.kind(), open.name));
        }
        if self.is_bound(account) {
            return None;
        }
        let source = self.unknown_rights.of_bindings(account)?;
        Some(format!(
            "no known binding has the subject ServiceAccount `{account}`, and {source} may contain such a binding"
        ))
    }

    /// Returns whether the subjects of a known binding include an account, or the accounts of its namespace.
    pub(crate) fn is_bound(&self, account: &Account) -> bool {
        let subjects = account.subjects();
        let mut own = subjects.iter().filter(|subject| !subject.is_everybody());
        own.any(|subject| self.bindings_of(subject).next().is_some())
    }

    /// The namespaces in which an account may create roles or bindings; the empty namespace is the whole cluster.
    pub(super) fn scopes_to_grant(&self, account: &Account) -> BTreeSet<Name> {
        let subjects = account.subjects();
        let own = subjects.iter().filter(|subject| !subject.is_everybody());
        let scopes: BTreeSet<&Name> =
            own.flat_map(|subject| self.bindings_of(subject)).map(|binding| &binding.namespace).collect();
        let may_create = |scope: &str, resource: &str| {
            self.can(account, &Request::new("create", groups::RBAC, resource).in_namespace(scope)).is_allowed()
        };
        let may_grant = |scope: &&&Name| match &****scope {
            "" => may_create("", "clusterroles") || may_create("", "clusterrolebindings"),
            scope => may_create(scope, "roles") || may_create(scope, "rolebindings"),
        };
        scopes.iter().filter(may_grant).map(|scope| (*scope).clone()).collect()
    }
}
