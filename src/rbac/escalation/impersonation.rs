//! By what an account may come to act as another one.

use std::fmt;

use super::account_objects::everyone;
use super::flux_identity::{APPLIERS, Applier, Unnamed};
use super::guard::{Guard, everything};
use crate::kube::groups;
use crate::rbac::admission::policy::{Named, Policy};
use crate::rbac::authz::answer::Grant;
use crate::rbac::authz::cluster::Rbac;
use crate::rbac::authz::request::Request;
use crate::rbac::authz::subject::Account;
use crate::yaml::Name;

/// The kinds whose objects run as an account of their namespace, the plainest first.
pub(super) const WORKLOADS: [Named<'static>; 8] = [
    Named { group: "", kind: "Pod", plural: "pods" },
    Named { group: "apps", kind: "Deployment", plural: "deployments" },
    Named { group: "apps", kind: "DaemonSet", plural: "daemonsets" },
    Named { group: "apps", kind: "StatefulSet", plural: "statefulsets" },
    Named { group: "apps", kind: "ReplicaSet", plural: "replicasets" },
    Named { group: "", kind: "ReplicationController", plural: "replicationcontrollers" },
    Named { group: "batch", kind: "Job", plural: "jobs" },
    Named { group: "batch", kind: "CronJob", plural: "cronjobs" },
];

/// A way to act as somebody else.
#[derive(Debug, Clone)]
pub struct Become<'a> {
    /// As whom.
    pub to: Actor,
    /// By what.
    pub means: Means,
    /// What allows it.
    pub grants: Vec<Grant<'a>>,
    /// A policy that may forbid it.
    pub forbidden_by: Option<&'a Policy>,
}

/// As whom somebody may act.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Actor {
    /// One account.
    Account(Account),
    /// Every account of a namespace.
    AccountsOf(Name),
    /// Every account of every namespace.
    AllAccounts,
    /// Anybody: all users and groups.
    Anybody,
    /// Himself, with any rights in a namespace, or with the empty one in the whole cluster.
    Raised(Name),
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account(account) => write!(f, "ServiceAccount `{account}`"),
            Self::AccountsOf(namespace) => write!(f, "any account of namespace `{namespace}`"),
            Self::AllAccounts => f.write_str("any account of the cluster"),
            Self::Anybody => f.write_str("anybody"),
            Self::Raised(namespace) if namespace.is_empty() => f.write_str("itself, with any rights"),
            Self::Raised(namespace) => write!(f, "itself, with any rights in namespace `{namespace}`"),
        }
    }
}

/// By what somebody may act as somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Means {
    /// An object of this kind that names the account, which Flux then acts as.
    Named(&'static str),
    /// An object of this kind that names no account: Flux acts as itself.
    Unnamed(&'static str),
    /// A workload of this kind, which runs as the account.
    Workload(&'static str),
    /// The verb `impersonate`.
    Impersonation,
    /// A token of the account.
    Token,
    /// A Secret in which Kubernetes puts a token of the account.
    TokenSecret,
    /// The verb `bind`: a binding to a role that gives what its writer has not.
    Bind,
    /// The verb `escalate`: a role with what its writer has not, and a binding to it.
    Escalate,
}

impl Rbac {
    /// As whom an account may act, in the whole cluster and in each namespace that it has rights in.
    pub fn becomes(&self, account: &Account) -> Vec<Become<'_>> {
        let mut found = Vec::new();
        let mut scopes: Vec<Name> = account.subjects().iter().flat_map(|subject| self.scopes_of(subject)).collect();
        scopes.sort();
        scopes.dedup();
        for scope in &scopes {
            let before = found.len();
            self.become_in(account, scope, &mut found);
            // What holds in the whole cluster is not said again for each namespace.
            let (wide, narrow) = found.split_at(before);
            let wide: Vec<Means> = wide.iter().filter(|one| one.is_wide()).map(|one| one.means).collect();
            let kept: Vec<Become<'_>> = narrow.iter().filter(|one| !wide.contains(&one.means)).cloned().collect();
            found.truncate(before);
            found.extend(kept);
        }
        found
    }

    fn become_in<'a>(&'a self, account: &Account, scope: &Name, found: &mut Vec<Become<'a>>) {
        let may = |verb: &str, group: &str, resource: &str| {
            self.can(account, &Request::new(verb, group, resource).in_namespace(scope)).grant()
        };
        for applier in &APPLIERS {
            self.become_by_flux(account, scope, applier, found);
        }
        let mut push = |to: Actor, means: Means, grants: Vec<Grant<'a>>, forbidden_by: Option<&'a Policy>| {
            found.push(Become { to, means, grants, forbidden_by });
        };
        let impersonates = |resource: &str| may("impersonate", "", resource);
        match (scope.is_empty(), impersonates("users")) {
            (true, Some(grant)) => push(Actor::Anybody, Means::Impersonation, vec![grant], None),
            _ => {
                if let Some(grant) = impersonates("serviceaccounts") {
                    push(everyone(scope), Means::Impersonation, vec![grant], None);
                }
            }
        }
        if let Some(grant) = may("create", "", "serviceaccounts/token") {
            push(everyone(scope), Means::Token, vec![grant], None);
        }
        for (named, means, grant) in self.named_in(account, scope) {
            push(Actor::Account(named), means, vec![grant], None);
        }
        // Whatever makes a pod, the pod itself is admitted, too. Of several ways one is told that no policy forbids.
        let [pod, ..] = WORKLOADS;
        let forbids =
            |kind: &Named<'_>| self.policies.forbids(*kind, scope).or_else(|| self.policies.forbids(pod, scope));
        let mut ways = WORKLOADS.iter().filter_map(|kind| {
            let (grant, actors) = self.by_object(account, scope, *kind)?;
            Some((kind.kind, grant, actors, forbids(kind)))
        });
        let told = match ways.next() {
            Some(first) if first.3.is_some() => Some(ways.find(|way| way.3.is_none()).unwrap_or(first)),
            first => first,
        };
        if let Some((kind, grant, actors, forbidden_by)) = told {
            for to in actors {
                push(to, Means::Workload(kind), vec![grant], forbidden_by);
            }
        }
        let reads = || may("get", "", "secrets").or_else(|| may("list", "", "secrets"));
        if let (Some(create), Some(read)) = (may("create", "", "secrets"), reads()) {
            push(everyone(scope), Means::TokenSecret, vec![create, read], None);
        }
        if self.has(account, scope, everything()[..1].iter()) == Guard::Passed {
            return;
        }
        let raised = || Actor::Raised(scope.clone());
        let bindings = if scope.is_empty() { "clusterrolebindings" } else { "rolebindings" };
        let bind = Request::new("bind", groups::RBAC, "clusterroles").in_namespace(scope).named("cluster-admin");
        if let (Some(create), Some(bind)) = (may("create", groups::RBAC, bindings), self.can(account, &bind).grant()) {
            push(raised(), Means::Bind, vec![bind, create], None);
        }
        let roles = if scope.is_empty() { "clusterroles" } else { "roles" };
        let write = || ["update", "patch", "create"].iter().find_map(|verb| may(verb, groups::RBAC, roles));
        if let (Some(escalate), Some(write)) = (may("escalate", groups::RBAC, roles), write()) {
            push(raised(), Means::Escalate, vec![escalate, write], None);
        }
    }

    /// The accounts that rules name which let somebody act as them: of a namespace, or with the empty one of any.
    fn named_in(&self, account: &Account, scope: &str) -> Vec<(Account, Means, Grant<'_>)> {
        let mut found = Vec::new();
        let subjects = account.subjects();
        for binding in subjects.iter().flat_map(|subject| self.bindings_in(subject, scope)) {
            let Some(role) = self.role(binding) else { continue };
            for (rule, from) in self.rules(binding) {
                for name in &rule.names {
                    let allows = |verb, resource| rule.allows(&Request::new(verb, "", resource).named(name));
                    let token = allows("create", "serviceaccounts/token").then_some(Means::Token);
                    let means =
                        token.or_else(|| allows("impersonate", "serviceaccounts").then_some(Means::Impersonation));
                    let Some(means) = means else { continue };
                    let grant = Grant { binding, role, rule, from };
                    if scope.is_empty() {
                        found.extend(self.called(name).into_iter().map(|account| (account, means, grant)));
                    } else {
                        found.push((Account::new(scope, name.clone()), means, grant));
                    }
                }
            }
        }
        found
    }

    fn become_by_flux<'a>(&'a self, account: &Account, scope: &Name, applier: &Applier, found: &mut Vec<Become<'a>>) {
        let Some(unnamed) = self.acting.unnamed(applier) else { return };
        let named = applier.named;
        let Some((grant, actors)) = self.by_object(account, scope, named) else { return };
        let forbidden_by = self.policies.forbids(named, scope);
        if let Unnamed::Itself(controller) = unnamed {
            let to = Actor::Account(controller.clone());
            found.push(Become { to, means: Means::Unnamed(named.kind), grants: vec![grant], forbidden_by });
        }
        for to in actors {
            found.push(Become { to, means: Means::Named(named.kind), grants: vec![grant], forbidden_by });
        }
    }

    /// Where a subject has rights; what everybody has is nobody's way to act as others.
    pub(super) fn scopes_of<'a>(
        &'a self,
        subject: &'a crate::rbac::authz::subject::Subject,
    ) -> impl Iterator<Item = Name> + 'a {
        let is_shipped =
            |place: &crate::rbac::authz::role::Place| matches!(place, crate::rbac::authz::role::Place::Shipped(_));
        let of_everybody = subject.is_everybody();
        let bindings = self.bindings_of(subject);
        bindings.filter(move |binding| !(of_everybody && is_shipped(&binding.place))).map(|one| one.namespace.clone())
    }
}

impl Become<'_> {
    /// Whether it holds for the whole cluster.
    fn is_wide(&self) -> bool {
        match &self.to {
            Actor::AllAccounts | Actor::Anybody => true,
            Actor::Raised(namespace) => namespace.is_empty(),
            Actor::Account(_) => matches!(self.means, Means::Unnamed(_)),
            Actor::AccountsOf(_) => false,
        }
    }
}
