//! The ways in which an account can assume another identity.

use std::collections::BTreeSet;

use super::actor::Actor;
use super::guard::{Guard, everything};
use super::method::Method;
use super::rule_identities::identities;
use crate::kube::groups;
use crate::rbac::admission::policy::Policy;
use crate::rbac::authz::authorizer::Grant;
use crate::rbac::authz::cluster::Rbac;
use crate::rbac::identity::flux_identity::{APPLIERS, ApplierIdentity, DefaultIdentity};
use crate::rbac::model::account_kind::{AccountKind, WORKLOADS};
use crate::rbac::model::request::Request;
use crate::rbac::model::role::DefinedIn;
use crate::rbac::model::subject::{Account, Subject};
use crate::yaml::Name;

/// The resources that run commands in pods, with the verbs. The API server and the kubelet also accept commands of a `get`.
const COMMANDS: [(&str, &[&str]); 4] = [
    ("nodes/proxy", &["create", "get"]),
    ("pods/exec", &["create", "get"]),
    ("pods/attach", &["create", "get"]),
    ("pods/ephemeralcontainers", &["update", "patch"]),
];

/// The maximum number of accounts of a namespace for which policies are evaluated.
const MAX_TRIALS: usize = 32;

/// A way to assume another identity.
#[derive(Debug, Clone)]
pub struct Impersonation<'a> {
    /// The assumed identity.
    pub to: Actor,
    /// The method.
    pub method: Method,
    /// The grants that allow the impersonation.
    pub grants: Vec<Grant<'a>>,
    /// A policy that may forbid the impersonation.
    pub forbidden_by: Option<&'a Policy>,
}

impl Rbac {
    /// The identities that an account can assume, in the whole cluster and in each namespace where the account has
    /// rights.
    pub fn impersonations(&self, account: &Account) -> Vec<Impersonation<'_>> {
        let mut found = Vec::new();
        let mut scopes: Vec<Name> = account.subjects().iter().flat_map(|subject| self.scopes_of(subject)).collect();
        scopes.sort();
        scopes.dedup();
        for scope in &scopes {
            let before = found.len();
            self.add_impersonations_in(account, scope, &mut found);
            // A method for the whole cluster is not repeated for each namespace.
            let (wide, narrow) = found.split_at(before);
            let wide: Vec<Method> = wide.iter().filter(|one| one.is_cluster_wide()).map(|one| one.method).collect();
            let kept: Vec<Impersonation<'_>> =
                narrow.iter().filter(|one| !wide.contains(&one.method)).cloned().collect();
            found.truncate(before);
            found.extend(kept);
        }
        Self::join_groups(&mut found);
        let itself = Actor::Account(account.clone());
        found.retain(|one| one.to != itself);
        found
    }

    /// Adds the grant for a user or an account to each impersonation of a group, since a group cannot be assumed alone.
    /// Without such a grant, removes the groups.
    fn join_groups<'a>(found: &mut Vec<Impersonation<'a>>) {
        let is_user = |one: &&Impersonation<'a>| one.method == Method::Impersonate && !one.to.is_group();
        let user = found.iter().find(is_user).and_then(|one| one.grants.first()).copied();
        match user {
            Some(grant) => found.iter_mut().filter(|one| one.to.is_group()).for_each(|one| one.grants.push(grant)),
            None => found.retain(|one| !one.to.is_group()),
        }
    }

    fn add_impersonations_in<'a>(&'a self, account: &Account, scope: &Name, found: &mut Vec<Impersonation<'a>>) {
        let may = |verb: &str, group: &str, resource: &str| {
            self.can(account, &Request::new(verb, group, resource).in_namespace(scope)).grant()
        };
        for applier in &APPLIERS {
            self.add_impersonation_by_flux(account, scope, applier, found);
        }
        let mut push = |to: Actor, method: Method, grants: Vec<Grant<'a>>, forbidden_by: Option<&'a Policy>| {
            found.push(Impersonation { to, method, grants, forbidden_by });
        };
        for (to, method, grant) in self.identities_by_rules(account, scope) {
            push(to, method, vec![grant], None);
        }
        // Admission policies also check the pods of a workload. Only one workload kind is reported, if possible a kind
        // that no policy forbids.
        let [pod, ..] = WORKLOADS;
        let forbids =
            |kind: &AccountKind<'_>| self.policies.forbids(*kind, scope).or_else(|| self.policies.forbids(pod, scope));
        let mut ways = WORKLOADS.iter().filter_map(|kind| {
            let (grant, actors) = self.actors_by_object(account, scope, *kind)?;
            Some((kind.kind, grant, actors, forbids(kind)))
        });
        let reported = match ways.next() {
            Some(first) if first.3.is_some() => Some(ways.find(|way| way.3.is_none()).unwrap_or(first)),
            first => first,
        };
        if let Some((kind, grant, actors, forbidden_by)) = reported {
            for to in actors {
                push(to, Method::Workload(kind), vec![grant], forbidden_by);
            }
        }
        let reads = || may("get", "", "secrets").or_else(|| may("list", "", "secrets"));
        if let (Some(create), Some(read)) = (may("create", "", "secrets"), reads()) {
            push(Actor::every_account_of(scope), Method::TokenSecret, vec![create, read], None);
        }
        for (resource, verbs) in COMMANDS {
            // Nodes have no namespace.
            let is_possible = scope.is_empty() || resource.starts_with("pods/");
            let grant = || verbs.iter().find_map(|verb| may(verb, "", resource));
            if let Some(grant) = is_possible.then(grant).flatten() {
                push(Actor::every_account_of(scope), Method::Command(resource), vec![grant], None);
            }
        }
        // In a single namespace, the owner reads the Secrets. The Secrets of Flux are the credentials of all sources.
        if (scope.is_empty() || self.flux_namespaces.contains(scope))
            && let Some(read) = reads().or_else(|| may("watch", "", "secrets"))
        {
            push(Actor::SecretReader(scope.clone()), Method::ReadSecrets, vec![read], None);
        }
        for (to, kind, grant) in self.users_of_content(account, scope) {
            push(
                Actor::Account(to),
                Method::Content(kind.kind),
                vec![grant],
                self.policies.forbids_source(kind, scope),
            );
        }
        if scope.is_empty()
            && let Some(grants) = self.certificate_grants(account)
        {
            push(Actor::AnyUser, Method::Certificate, grants, None);
        }
        if self.has(account, scope, everything()[..1].iter()) == Guard::Passed {
            return;
        }
        let raised = || Actor::Raised(scope.clone());
        let bindings = if scope.is_empty() { "clusterrolebindings" } else { "rolebindings" };
        let bind = Request::new("bind", groups::RBAC, "clusterroles").in_namespace(scope).named("cluster-admin");
        if let (Some(create), Some(bind)) = (may("create", groups::RBAC, bindings), self.can(account, &bind).grant()) {
            push(raised(), Method::Bind, vec![bind, create], None);
        }
        let roles = if scope.is_empty() { "clusterroles" } else { "roles" };
        let write = || ["update", "patch", "create"].iter().find_map(|verb| may(verb, groups::RBAC, roles));
        if let (Some(escalate), Some(write)) = (may("escalate", groups::RBAC, roles), write()) {
            push(raised(), Method::Escalate, vec![escalate, write], None);
        }
    }

    /// The grants that allow a client certificate of any user: a request, and its approval for the signer of the API
    /// server. Kubernetes then signs the request.
    fn certificate_grants(&self, account: &Account) -> Option<Vec<Grant<'_>>> {
        const GROUP: &str = "certificates.k8s.io";
        let may = |verb: &str, resource: &str| self.can(account, &Request::new(verb, GROUP, resource)).grant();
        let create = may("create", "certificatesigningrequests")?;
        let approval = "certificatesigningrequests/approval";
        let change = may("update", approval).or_else(|| may("patch", approval))?;
        let signers = ["kubernetes.io/kube-apiserver-client", "kubernetes.io/*"];
        let approve = |signer| self.can(account, &Request::new("approve", GROUP, "signers").named(signer)).grant();
        let approve = signers.into_iter().find_map(approve)?;
        Some(vec![create, change, approve])
    }

    /// The identities that an account can assume by the rules of its bindings in a scope: the identities without a name
    /// first.
    fn identities_by_rules(&self, account: &Account, scope: &Name) -> Vec<(Actor, Method, Grant<'_>)> {
        let mut found: Vec<(Actor, Method, Grant<'_>)> = Vec::new();
        let mut known: BTreeSet<(Actor, Method)> = BTreeSet::new();
        let subjects = account.subjects();
        for binding in subjects.iter().flat_map(|subject| self.bindings_in(subject, scope)) {
            let Some(role) = self.role(binding) else { continue };
            for (rule, from) in self.rules(binding) {
                let new = identities(rule, scope).into_iter().filter(|identity| known.insert(identity.clone()));
                found.extend(new.map(|(to, method)| (to, method, Grant { binding, role, rule, from })));
            }
        }
        // The identity of any user includes every account and every group.
        if known.contains(&(Actor::AnyUser, Method::Impersonate)) {
            found.retain(|(to, method, _)| *method != Method::Impersonate || *to == Actor::AnyUser);
        }
        let is_named = |to: &Actor| matches!(to, Actor::Account(_) | Actor::AccountsNamed(_) | Actor::Subject(_));
        found.sort_by_key(|(to, method, _)| (is_named(to), !is_named(to) && *method == Method::Token));
        found
    }

    fn add_impersonation_by_flux<'a>(
        &'a self,
        account: &Account,
        scope: &Name,
        applier: &ApplierIdentity,
        found: &mut Vec<Impersonation<'a>>,
    ) {
        let Some(identity) = self.flux_identities.default_of(applier) else { return };
        let kind = applier.kind;
        let Some((grant, actors)) = self.actors_by_object(account, scope, kind) else { return };
        let forbidden_by = self.policies.forbids(kind, scope);
        // The policies are certain about the creation of an object, but not about a change.
        let may_create = grant.rule.verbs.iter().any(|verb| matches!(&**verb, "create" | "*"));
        let is_admitted = |namespace: &str, named: Option<&str>| {
            forbidden_by.is_some() && may_create && self.policies.admit(kind, namespace, account, named)
        };
        if let DefaultIdentity::Controller(controller) = identity {
            let to = Actor::Account(controller.clone());
            let namespace = if scope.is_empty() { &account.namespace } else { scope };
            let forbidden_by = forbidden_by.filter(|_| !is_admitted(namespace, None));
            found.push(Impersonation { to, method: Method::Controller(kind.kind), grants: vec![grant], forbidden_by });
        }
        let method = Method::ServiceAccountName(kind.kind);
        for to in actors {
            let accounts = match &to {
                Actor::AccountsOf(namespace) if forbidden_by.is_some() => self.accounts(namespace),
                Actor::AllAccounts if forbidden_by.is_some() => self.most_powerful(|_| true),
                _ => Vec::new(),
            };
            let others = accounts.into_iter().filter(|one| one != account && !self.has_rights_of_namespace(one));
            let admitted = others.take(MAX_TRIALS).filter(|one| is_admitted(&one.namespace, Some(&one.name)));
            for to in admitted.map(Actor::Account) {
                found.push(Impersonation { to, method, grants: vec![grant], forbidden_by: None });
            }
            found.push(Impersonation { to, method, grants: vec![grant], forbidden_by });
        }
    }

    /// The namespaces in which a subject has rights. The shipped rights of all users are ignored, since they allow no
    /// impersonation.
    pub(super) fn scopes_of<'a>(&'a self, subject: &'a Subject) -> impl Iterator<Item = Name> + 'a {
        let is_shipped = |place: &DefinedIn| matches!(place, DefinedIn::Shipped(_));
        let of_everybody = subject.is_everybody();
        let bindings = self.bindings_of(subject);
        bindings.filter(move |binding| !(of_everybody && is_shipped(&binding.place))).map(|one| one.namespace.clone())
    }
}

impl Impersonation<'_> {
    /// Returns whether the impersonation is possible in the whole cluster.
    fn is_cluster_wide(&self) -> bool {
        match &self.to {
            Actor::AllAccounts | Actor::AnyUser => true,
            Actor::Raised(namespace) => namespace.is_empty(),
            Actor::Account(_) => matches!(self.method, Method::Controller(_)),
            // None of these identities includes the accounts of every namespace.
            Actor::AccountsOf(_)
            | Actor::AccountsNamed(_)
            | Actor::Subject(_)
            | Actor::AnyGroup
            | Actor::SecretReader(_) => false,
        }
    }
}
