//! The access rights of one cluster: its roles, bindings and accounts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

use crate::rbac::admission::policy::Policies;
use crate::rbac::identity::account_objects::AccountObjects;
use crate::rbac::identity::content_users::ContentUsers;
use crate::rbac::identity::flux_identity::FluxIdentities;
use crate::rbac::identity::unknown_rights::UnknownRightsSources;
use crate::rbac::model::role::{Binding, Role};
use crate::rbac::model::subject::{Account, Subject};
use crate::text::Index;
use crate::yaml::Name;

/// The access rights of one cluster.
#[derive(Debug, Default)]
pub struct Rbac {
    pub(crate) roles: Vec<Role>,
    /// The positions of roles by namespace and name. A ClusterRole has the empty namespace.
    role_by_name: Index<(Name, Name), usize>,
    /// The positions of the `ClusterRole` objects with a label, by the key of the label.
    pub(super) roles_by_label: Index<Name, Vec<usize>>,
    pub(super) aggregations: Aggregations,
    pub(crate) bindings: Vec<Binding>,
    binding_by_name: Index<(Name, Name), usize>,
    /// The bindings of a subject, by the namespace in which they grant rights; the empty namespace is the whole
    /// cluster.
    by_subject: Index<Subject, BTreeMap<Name, Vec<usize>>>,
    /// The accounts that objects define or reference, by namespace.
    accounts: BTreeMap<Name, BTreeSet<Name>>,
    /// The accounts that Flux impersonates, by namespace.
    pub(super) impersonated: BTreeMap<Name, BTreeSet<Name>>,
    /// The namespaces that Namespace objects define, or that objects use.
    namespaces: BTreeSet<Name>,
    pub(crate) unknown_rights: UnknownRightsSources,
    /// The identities under which Flux applies objects.
    pub(crate) flux_identities: FluxIdentities,
    /// The objects that name an account.
    pub(crate) account_objects: AccountObjects,
    pub(crate) content_users: ContentUsers,
    /// The namespaces of Flux on this cluster.
    pub(crate) flux_namespaces: BTreeSet<Name>,
    pub(crate) policies: Policies,
    /// A binding with unknown subjects, which may grant rights to any account.
    pub(crate) open_binding: Option<usize>,
    /// The size of the permissions that were listed.
    pub(crate) listed: AtomicUsize,
}

/// The aggregated roles of each role, computed on demand.
#[derive(Debug, Default)]
pub(super) struct Aggregations {
    /// For each role, the roles that define its rules; `None` if they are too many.
    pub(super) sources: Vec<OnceLock<Option<Box<[u32]>>>>,
    /// For each role, the roles that its selectors match.
    pub(super) selected: Vec<OnceLock<Box<[u32]>>>,
    pub(super) count: AtomicUsize,
}

impl Aggregations {
    fn new(roles: usize) -> Self {
        let sources = (0..roles).map(|_| OnceLock::new()).collect();
        Self { sources, selected: (0..roles).map(|_| OnceLock::new()).collect(), count: AtomicUsize::new(0) }
    }
}

impl Rbac {
    pub(super) fn add_role(&mut self, role: Role) {
        put(&mut self.roles, &mut self.role_by_name, (role.namespace.clone(), role.name.clone()), role);
    }

    pub(super) fn add_binding(&mut self, binding: Binding) {
        let id = (binding.namespace.clone(), binding.name.clone());
        put(&mut self.bindings, &mut self.binding_by_name, id, binding);
    }

    pub(super) fn add_account(&mut self, namespace: &str, name: &str) {
        if is_known(namespace) && is_known(name) {
            self.accounts.entry(namespace.into()).or_default().insert(name.into());
        }
    }

    pub(super) fn add_namespace(&mut self, namespace: &str) {
        if is_known(namespace) && !self.namespaces.contains(namespace) {
            self.namespaces.insert(namespace.into());
        }
    }

    pub(super) fn index(&mut self) {
        self.aggregations = Aggregations::new(self.roles.len());
        for (at, role) in self.roles.iter().enumerate().filter(|(_, role)| role.namespace.is_empty()) {
            for key in role.labels.keys() {
                self.roles_by_label.entry(key.clone()).push(at);
            }
        }
        for (at, binding) in self.bindings.iter().enumerate() {
            if binding.is_opaque {
                self.open_binding.get_or_insert(at);
            }
            for bound in &binding.subjects {
                let known = self.by_subject.entry(bound.subject.clone()).entry(binding.namespace.clone()).or_default();
                if known.last() != Some(&at) {
                    known.push(at);
                }
                if let Some(account) = bound.subject.account().filter(|account| is_known(&account.name)) {
                    self.accounts.entry(account.namespace).or_default().insert(account.name);
                }
            }
            if !binding.namespace.is_empty() {
                self.namespaces.insert(binding.namespace.clone());
            }
        }
    }

    /// The known accounts of a namespace, with `default`, which every namespace has.
    pub fn accounts(&self, namespace: &str) -> Vec<Account> {
        let mut names: BTreeSet<Name> = self.accounts.get(namespace).cloned().unwrap_or_default();
        names.insert("default".into());
        names.into_iter().map(|name| Account::new(namespace, name)).collect()
    }

    /// The accounts that Flux impersonates for the objects of a namespace.
    pub fn impersonated_accounts(&self, namespace: &str) -> Vec<Account> {
        let names = self.impersonated.get(namespace).into_iter().flatten();
        names.map(|name| Account::new(namespace, name.clone())).collect()
    }

    /// The accounts with a name, in any namespace.
    pub(crate) fn accounts_named(&self, name: &Name) -> Vec<Account> {
        let having = self.accounts.iter().filter(|(_, names)| names.contains(name));
        having.map(|(namespace, _)| Account::new(namespace.clone(), name.clone())).collect()
    }

    /// The selected accounts with the most rights: an account with all rights, or else the accounts with rights in the
    /// whole cluster.
    pub(crate) fn most_powerful(&self, is_selected: impl Fn(&Account) -> bool) -> Vec<Account> {
        let everywhere = self.bindings.iter().filter(|binding| binding.namespace.is_empty());
        let named = everywhere.flat_map(|binding| binding.subjects.iter().filter_map(|bound| bound.subject.account()));
        let named: BTreeSet<Account> = named.filter(|account| is_selected(account)).collect();
        let (all, some): (Vec<Account>, Vec<Account>) =
            named.into_iter().partition(|account| self.may_do_everything(account));
        all.into_iter().next().map_or(some, |one| vec![one])
    }

    /// The namespaces that Namespace objects define, or that objects use.
    pub fn namespaces(&self) -> impl Iterator<Item = &Name> {
        self.namespaces.iter()
    }

    /// The bindings of a subject that grant rights in a single namespace, or in the whole cluster if `namespace` is
    /// empty.
    pub(crate) fn bindings_in(&self, subject: &Subject, namespace: &str) -> impl Iterator<Item = &Binding> {
        let found = self.by_subject.get(subject).and_then(|all| all.get(namespace));
        found.into_iter().flatten().map(|at| &self.bindings[*at])
    }

    /// All bindings of a subject: the bindings of the whole cluster first, then by namespace.
    pub(crate) fn bindings_of(&self, subject: &Subject) -> impl Iterator<Item = &Binding> {
        self.by_subject.get(subject).into_iter().flat_map(BTreeMap::values).flatten().map(|at| &self.bindings[*at])
    }

    /// All bindings.
    pub fn bindings(&self) -> impl Iterator<Item = &Binding> {
        self.bindings.iter()
    }

    /// The roles with all permissions that a binding without a known role may reference: the repository does not show their names.
    pub fn possible_roles(&self, binding: &Binding) -> impl Iterator<Item = &Role> {
        let namespace = if binding.role.is_cluster_role { "" } else { &*binding.namespace };
        let is_known = self.role_at(binding).is_some();
        let roles = self.roles.iter().filter(move |role| !is_known && role.has_hidden_name);
        roles.filter(move |role| *role.namespace == *namespace && role.is_everything())
    }

    /// The roles with all permissions that another role may aggregate, each with the label that the repository does not show.
    pub fn possibly_aggregated(&self) -> impl Iterator<Item = (&Role, &Name)> {
        let is_selected = |key: &Name| {
            self.roles.iter().flat_map(|role| &role.aggregates).any(|selector| selector.keys().any(|one| *one == **key))
        };
        let hidden = self.roles.iter().filter(|role| role.namespace.is_empty() && !role.hidden_labels.is_empty());
        let powerful = hidden.filter(|role| role.is_everything());
        powerful.filter_map(move |role| Some((role, role.hidden_labels.iter().find(|key| is_selected(key))?)))
    }

    /// The position of the role of a binding; `None` if the cluster has no such role.
    pub(crate) fn role_at(&self, binding: &Binding) -> Option<usize> {
        let namespace = if binding.role.is_cluster_role { Name::from("") } else { binding.namespace.clone() };
        // A ClusterRoleBinding cannot reference a Role.
        let is_possible = binding.role.is_cluster_role || !namespace.is_empty();
        self.role_by_name.get(&(namespace, binding.role.name.clone())).copied().filter(|_| is_possible)
    }

    /// The role of a binding; `None` if the cluster has no such role.
    pub fn role(&self, binding: &Binding) -> Option<&Role> {
        self.role_at(binding).map(|at| &self.roles[at])
    }
}

/// Adds a role or binding, which replaces an earlier object with the same namespace and name.
fn put<T>(all: &mut Vec<T>, by_name: &mut Index<(Name, Name), usize>, id: (Name, Name), one: T) {
    if let Some(at) = by_name.get(&id) {
        all[*at] = one;
        return;
    }
    by_name.insert(id, all.len());
    all.push(one);
}

fn is_known(name: &str) -> bool {
    !name.is_empty() && !name.contains("${")
}
