//! Whether somebody may do something, as the API server would answer, and by what.

use super::cluster::Rbac;
use super::kinds::is_shipped;
use super::request::{Request, Target};
use super::role::{Binding, Role};
use super::rule::Rule;
use super::subject::Account;

/// By what somebody may do something.
#[derive(Debug, Clone, Copy)]
pub struct Grant<'a> {
    /// What binds him.
    pub binding: &'a Binding,
    /// To which role.
    pub role: &'a Role,
    /// What of it allows.
    pub rule: &'a Rule,
    /// The role that the rule is written in: another one where the first gathers it.
    pub from: &'a Role,
}

/// Whether somebody may do something, as far as that is known.
#[derive(Debug, Clone)]
pub enum Answer<'a> {
    /// He may, by this.
    Allowed(Grant<'a>),
    /// He may not.
    Denied,
    /// That cannot be known here, and why.
    Unknown(String),
}

impl<'a> Answer<'a> {
    /// By what he certainly may.
    pub fn grant(self) -> Option<Grant<'a>> {
        match self {
            Self::Allowed(grant) => Some(grant),
            Self::Denied | Self::Unknown(_) => None,
        }
    }

    /// Whether he certainly may.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed(_))
    }
}

impl Rbac {
    /// Whether an account may do something.
    pub fn can(&self, account: &Account, request: &Request<'_>) -> Answer<'_> {
        let subjects = account.subjects();
        let mut unknown = None;
        let scopes = ["", request.namespace()];
        let scopes = if request.namespace().is_empty() { &scopes[..1] } else { &scopes[..] };
        for binding in scopes.iter().flat_map(|scope| subjects.iter().map(move |subject| (*scope, subject))) {
            let (scope, subject) = binding;
            for binding in self.bindings_in(subject, scope) {
                match self.ask(binding, request) {
                    Answer::Denied => {}
                    Answer::Unknown(why) => {
                        unknown.get_or_insert(why);
                    }
                    allowed @ Answer::Allowed(_) => return allowed,
                }
            }
        }
        match unknown.or_else(|| self.doubt(account)) {
            Some(why) => Answer::Unknown(why),
            None => Answer::Denied,
        }
    }

    /// Whether a binding allows something, where it gives rights.
    fn ask<'a>(&'a self, binding: &'a Binding, request: &Request<'_>) -> Answer<'a> {
        let Some(at) = self.role_at(binding) else {
            let namespace = if binding.role.is_cluster_role { "" } else { &*binding.namespace };
            // A reference to what nobody brings gives nothing.
            return match self.unseen.role(namespace) {
                Some(who) => Answer::Unknown(format!("{}, which {who} may bring", binding.role_name())),
                None => Answer::Denied,
            };
        };
        let role = &self.roles[at];
        if let Some((rule, from)) = self.rules_at(at).find(|(rule, _)| rule.allows(request)) {
            return Answer::Allowed(Grant { binding, role, rule, from });
        }
        if self.gathers_too_much(at) {
            return Answer::Unknown(format!("{} gathers too many roles", binding.role_name()));
        }
        if role.is_opaque {
            return Answer::Unknown(format!("{} has values that are not known", binding.role_name()));
        }
        let is_foreign = matches!(request.target, Target::Resource(resource) if !is_shipped(resource.group));
        match self.unseen.gathered().filter(|_| is_foreign && !role.gathers.is_empty()) {
            Some(who) => Answer::Unknown(format!("{}, for which {who} may bring rules", binding.role_name())),
            None => Answer::Denied,
        }
    }

    /// Why an account may have rights that are not seen.
    fn doubt(&self, account: &Account) -> Option<String> {
        if let Some(open) = self.open.map(|at| &self.bindings[at]) {
            return Some(format!("{} `{}` binds subjects that are not known", open.kind(), open.name));
        }
        if self.is_bound(account) {
            return None;
        }
        let who = self.unseen.binding(&account.namespace)?;
        Some(format!("nothing here binds ServiceAccount `{account}`, and {who} may"))
    }
}
