//! The tenants of a cluster, with their service accounts.

use std::collections::{BTreeMap, BTreeSet};

use crate::flux::Tenancy;
use crate::rbac::authz::cluster::Rbac;
use crate::rbac::escalation::escape_chain::EscapeChain;
use crate::rbac::model::role::{Binding, BoundSubject};
use crate::rbac::model::subject::{Account, Subject};
use crate::yaml::Name;

/// The tenants of a cluster.
#[derive(Debug, Default)]
pub struct Tenants {
    all: Vec<Tenant>,
    by_namespace: BTreeMap<Name, usize>,
    by_account: BTreeMap<Account, usize>,
}

/// A tenant.
#[derive(Debug, Clone)]
pub struct Tenant {
    /// The name, if it is known.
    pub name: Option<Name>,
    /// The namespaces of the tenant.
    pub namespaces: BTreeSet<Name>,
    /// The service accounts that Flux impersonates for the tenant.
    pub users: Vec<Account>,
}

impl Tenant {
    /// The tenant in the form that messages use.
    pub fn called(&self) -> String {
        match (&self.name, self.namespaces.first()) {
            (Some(name), _) => format!("tenant `{name}`"),
            (None, Some(namespace)) => format!("the tenant of namespace `{namespace}`"),
            (None, None) => "the tenant".to_owned(),
        }
    }

    /// The chains by which the tenant gains rights outside its namespaces.
    pub fn escapes<'a>(&self, rbac: &'a Rbac) -> Vec<Escape<'a>> {
        let chains = rbac.escape_chains(&self.users, &self.namespaces).into_iter();
        let unknown = rbac.unknown_policy_source();
        let judged = chains.map(|chain| {
            let by_policy = chain.forbidden_by().map(|policy| format!("{} may forbid", policy.reference));
            let may_be_forbidden = chain.steps.iter().any(|step| step.by.method.may_be_forbidden());
            let by_unknown = || {
                let source = unknown.as_ref().filter(|_| may_be_forbidden)?;
                Some(format!("a policy of {source} may forbid"))
            };
            let doubt = by_policy.or_else(by_unknown);
            Escape { chain, doubt }
        });
        judged.collect()
    }
}

/// A chain by which a tenant gains rights outside its namespaces.
#[derive(Debug, Clone)]
pub struct Escape<'a> {
    /// The chain.
    pub chain: EscapeChain<'a>,
    /// The policy that may forbid the chain, as the end of a sentence: `ClusterPolicy `accounts` may forbid`.
    pub doubt: Option<String>,
}

impl Tenants {
    /// The tenants of a cluster with their accounts, ordered by name.
    pub fn new(tenancy: &Tenancy, rbac: &Rbac) -> Self {
        let mut namespaces: BTreeMap<(Option<&str>, Option<&str>), BTreeSet<Name>> = BTreeMap::new();
        for (namespace, name) in &tenancy.tenants {
            // Each namespace without a tenant name is a separate tenant.
            let key = (name.as_deref(), name.is_none().then_some(namespace.as_str()));
            namespaces.entry(key).or_default().insert(namespace.as_str().into());
        }
        let mut declared: BTreeMap<&str, Vec<Account>> = BTreeMap::new();
        for (account, tenant) in &tenancy.accounts {
            let Some((namespace, name)) = account.split_once('/') else { continue };
            namespaces.entry((Some(tenant), None)).or_default();
            declared.entry(tenant).or_default().push(Account::new(namespace, name));
        }
        let mut tenants = Self::default();
        for ((name, _), namespaces) in namespaces {
            let at = tenants.all.len();
            let declared = name.and_then(|name| declared.remove(name)).unwrap_or_default();
            tenants.by_namespace.extend(namespaces.iter().map(|namespace| (namespace.clone(), at)));
            tenants.by_account.extend(declared.iter().map(|account| (account.clone(), at)));
            let users =
                namespaces.iter().flat_map(|namespace| rbac.impersonated_accounts(namespace)).chain(declared).collect();
            tenants.all.push(Tenant { name: name.map(Name::from), namespaces, users });
        }
        tenants
    }

    /// All tenants.
    pub fn iter(&self) -> impl Iterator<Item = &Tenant> {
        self.all.iter()
    }

    /// Returns whether the cluster has no tenants.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The tenant that owns an account.
    pub fn of_account(&self, account: &Account) -> Option<&Tenant> {
        let at = self.by_account.get(account).or_else(|| self.by_namespace.get(&account.namespace));
        at.and_then(|at| self.all.get(*at))
    }

    /// The tenant of a subject, which is an account or the group of the accounts of a namespace. A subject of
    /// all accounts, or of requests without an identity, belongs to the first tenant.
    fn of_subject(&self, subject: &Subject) -> Option<&Tenant> {
        if subject.is_everybody() || subject.is_anonymous() {
            return self.all.first();
        }
        match subject.account() {
            Some(account) => self.of_account(&account),
            None => self.by_namespace.get(subject.accounts_of()?).and_then(|at| self.all.get(*at)),
        }
    }

    /// The subjects of a binding that belong to tenants.
    pub fn subjects<'a>(&'a self, binding: &'a Binding) -> impl Iterator<Item = &'a BoundSubject> {
        binding.subjects.iter().filter(|bound| self.of_subject(&bound.subject).is_some())
    }

    /// The bindings of a cluster with a tenant among the subjects, each with the first such subject and the tenant of
    /// this subject.
    pub fn bindings<'a>(&'a self, rbac: &'a Rbac) -> Vec<(&'a Binding, &'a BoundSubject, &'a Tenant)> {
        if self.is_empty() {
            return Vec::new();
        }
        let written = rbac.bindings().filter(|binding| binding.is_written());
        let bound = written.filter_map(|binding| {
            let mut subjects = binding.subjects.iter();
            subjects.find_map(|bound| Some((binding, bound, self.of_subject(&bound.subject)?)))
        });
        bound.collect()
    }
}
