//! The rights of one cluster: its roles, and who is bound to them.

use std::collections::{BTreeMap, BTreeSet};

use super::aggregation::Gathered;
use super::role::{Binding, GROUP, Role, Shipper};
use super::shipped::SHIPPED;
use super::subject::{Account, Subject};
use crate::flux::{Applied, Receiver, Tenancy, is_flux};
use crate::kube::Object;
use crate::rbac::admission::policy::Policies;
use crate::rbac::admission::unknown_sources::{Bringer, Unseen};
use crate::rbac::escalation::account_objects::Present;
use crate::rbac::escalation::flux_identity::{Acting, acts_as};
use crate::text::{Index, Span};
use crate::yaml::{Name, Node};

/// The API group of Flux Operator.
const OPERATOR: &str = "fluxcd.controlplane.io";

/// The rights of one cluster.
#[derive(Debug, Default)]
pub struct Rbac {
    pub(crate) roles: Vec<Role>,
    /// By namespace and name; cluster-scoped ones have the empty namespace.
    role_by_name: Index<(Name, Name), usize>,
    /// The roles of the whole cluster that have a label, by its key.
    pub(super) roles_by_label: Index<Name, Vec<usize>>,
    /// What the roles come to that gather others, found when it is first asked.
    pub(crate) gathered: Gathered,
    pub(crate) bindings: Vec<Binding>,
    binding_by_name: Index<(Name, Name), usize>,
    /// The bindings of a subject, by the namespace that they give rights in; the empty one is the whole cluster.
    by_subject: Index<Subject, BTreeMap<Name, Vec<usize>>>,
    /// The accounts that objects speak of, by namespace.
    accounts: BTreeMap<Name, BTreeSet<Name>>,
    /// The accounts that Flux acts as for objects of a namespace.
    users: BTreeMap<Name, BTreeSet<Name>>,
    /// The namespaces that objects are in, or that they are.
    pub(crate) namespaces: BTreeSet<Name>,
    pub(crate) unseen: Unseen,
    /// As whom Flux acts.
    pub(crate) acting: Acting,
    /// The objects that are there and name an account.
    pub(crate) present: Present,
    pub(crate) policies: Policies,
    /// A binding whose subjects are not known: it may be anybody's.
    pub(crate) open: Option<usize>,
}

impl Rbac {
    /// Reads what a cluster receives, over what is shipped with Kubernetes and with the Flux that runs there.
    pub fn of(receiver: &Receiver<'_>, tenancy: &Tenancy) -> Self {
        let mut rbac = Self::default();
        rbac.ship(Shipper::Kubernetes, "");
        let mut telling: Vec<Applied<'_>> = Vec::new();
        let (mut has_operator, mut rebinds) = (false, false);
        for applied in receiver.applied_sets().flat_map(crate::flux::AppliedSet::applied) {
            has_operator |= applied.object.group() == OPERATOR;
            rebinds |= rebinds_flux(applied.object);
            rbac.take_namespace(&applied);
            rbac.present.take(applied.object, applied.namespace());
            if tells(applied.object) {
                telling.push(applied);
            }
            rbac.policies.take(&applied);
        }
        rbac.acting = Acting::of(&telling, tenancy, receiver);
        if receiver.target.is_none() {
            for home in &tenancy.flux_namespaces {
                // What the repository brings itself is all that Flux's installation has, patched or not.
                let own = format!("crd-controller-{home}");
                let is_seen = |applied: &Applied<'_>| {
                    applied.object.kind() == "ClusterRoleBinding" && applied.object.name() == own
                };
                if !telling.iter().any(is_seen) && !rebinds {
                    rbac.ship(Shipper::Flux, home);
                }
                if has_operator {
                    rbac.ship(Shipper::FluxOperator, home);
                }
            }
        }
        for applied in &telling {
            rbac.take(applied);
            rbac.take_user(applied, tenancy);
        }
        rbac.index();
        let appliers = receiver.cluster.appliers.iter().filter(|applier| applier.target == receiver.target);
        let unbuilt = appliers.filter_map(|applier| Bringer::unbuilt(applier, tenancy));
        let releases = telling.iter().filter(|applied| applied.object.is("helm.toolkit.fluxcd.io", "HelmRelease"));
        let bringers = unbuilt.chain(releases.filter_map(|release| Bringer::chart(release, tenancy))).collect();
        rbac.unseen = Unseen::of(receiver, bringers, &rbac);
        rbac
    }

    fn ship(&mut self, by: Shipper, home: &str) {
        SHIPPED.roles(by, home).for_each(|role| self.add_role(role));
        SHIPPED.bindings(by, home).for_each(|binding| self.add_binding(binding));
    }

    fn take_namespace(&mut self, applied: &Applied<'_>) {
        let object = applied.object;
        let namespace = if object.is("", "Namespace") { Some(object.name()) } else { applied.namespace() };
        if let Some(namespace) = namespace.filter(|name| is_known(name) && !self.namespaces.contains(*name)) {
            self.namespaces.insert(namespace.into());
        }
    }

    fn take(&mut self, applied: &Applied<'_>) {
        let object = applied.object;
        let place = |span: &Span| applied.by.place(span);
        let namespace = applied.namespace().unwrap_or("default");
        match object.kind() {
            "Role" => self.add_role(Role::of(object, namespace, place)),
            "ClusterRole" => self.add_role(Role::of(object, "", place)),
            "RoleBinding" => {
                if let Some(binding) = Binding::of(object, namespace, place) {
                    self.add_binding(binding);
                }
            }
            "ClusterRoleBinding" => {
                if let Some(binding) = Binding::of(object, "", place) {
                    self.add_binding(binding);
                }
            }
            "ServiceAccount" => self.add_account(namespace, object.name()),
            _ => {}
        }
    }

    /// Takes the account that Flux acts as for an object.
    fn take_user(&mut self, applied: &Applied<'_>, tenancy: &Tenancy) {
        if let Some(account) = acts_as(applied.object, applied.namespace(), tenancy) {
            self.add_account(&account.namespace, &account.name);
            self.users.entry(account.namespace).or_default().insert(account.name);
        }
    }

    fn add_role(&mut self, role: Role) {
        put(&mut self.roles, &mut self.role_by_name, (role.namespace.clone(), role.name.clone()), role);
    }

    fn add_binding(&mut self, binding: Binding) {
        let id = (binding.namespace.clone(), binding.name.clone());
        put(&mut self.bindings, &mut self.binding_by_name, id, binding);
    }

    fn add_account(&mut self, namespace: &str, name: &str) {
        if is_known(namespace) && is_known(name) {
            self.accounts.entry(namespace.into()).or_default().insert(name.into());
        }
    }

    fn index(&mut self) {
        self.gathered = Gathered::of(self.roles.len());
        for (at, role) in self.roles.iter().enumerate().filter(|(_, role)| role.namespace.is_empty()) {
            for key in role.labels.keys() {
                self.roles_by_label.entry(key.clone()).push(at);
            }
        }
        for (at, binding) in self.bindings.iter().enumerate() {
            if binding.is_opaque {
                self.open.get_or_insert(at);
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

    /// The accounts of a namespace that objects speak of, and `default`, which every namespace has.
    pub fn accounts(&self, namespace: &str) -> Vec<Account> {
        let mut names: BTreeSet<Name> = self.accounts.get(namespace).cloned().unwrap_or_default();
        names.insert("default".into());
        names.into_iter().map(|name| Account::new(namespace, name)).collect()
    }

    /// The accounts that Flux acts as for the objects of a namespace.
    pub fn users(&self, namespace: &str) -> Vec<Account> {
        let names = self.users.get(namespace).into_iter().flatten();
        names.map(|name| Account::new(namespace, name.clone())).collect()
    }

    /// The accounts of a name, in whatever namespace.
    pub(crate) fn called(&self, name: &Name) -> Vec<Account> {
        let having = self.accounts.iter().filter(|(_, names)| names.contains(name));
        having.map(|(namespace, _)| Account::new(namespace.clone(), name.clone())).collect()
    }

    /// The accounts with the most rights among those that are asked for: those that may do everything, else those that
    /// have some in the whole cluster.
    pub(crate) fn mightiest(&self, is_asked: impl Fn(&Account) -> bool) -> Vec<Account> {
        let everywhere = self.bindings.iter().filter(|binding| binding.namespace.is_empty());
        let named = everywhere.flat_map(|binding| binding.subjects.iter().filter_map(|bound| bound.subject.account()));
        let named: BTreeSet<Account> = named.filter(|account| is_asked(account)).collect();
        let (all, some): (Vec<Account>, Vec<Account>) =
            named.into_iter().partition(|account| self.may_do_everything(account));
        all.into_iter().next().map_or(some, |one| vec![one])
    }

    /// The namespaces that objects are in, or that they are.
    pub fn namespaces(&self) -> impl Iterator<Item = &Name> {
        self.namespaces.iter()
    }

    /// The bindings of a subject that give rights in a namespace alone, or with the empty one in the whole cluster.
    pub(crate) fn bindings_in(&self, subject: &Subject, namespace: &str) -> impl Iterator<Item = &Binding> {
        let found = self.by_subject.get(subject).and_then(|all| all.get(namespace));
        found.into_iter().flatten().map(|at| &self.bindings[*at])
    }

    /// All bindings of a subject: those of the whole cluster, then by namespace.
    pub(crate) fn bindings_of(&self, subject: &Subject) -> impl Iterator<Item = &Binding> {
        self.by_subject.get(subject).into_iter().flat_map(BTreeMap::values).flatten().map(|at| &self.bindings[*at])
    }

    /// All bindings.
    pub fn bindings(&self) -> impl Iterator<Item = &Binding> {
        self.bindings.iter()
    }

    /// The position of a role of a binding; `None` when nobody brings it.
    pub(crate) fn role_at(&self, binding: &Binding) -> Option<usize> {
        let namespace = if binding.role.is_cluster_role { Name::from("") } else { binding.namespace.clone() };
        // A Role has a namespace, and a ClusterRoleBinding has none to find it in.
        let is_possible = binding.role.is_cluster_role || !namespace.is_empty();
        self.role_by_name.get(&(namespace, binding.role.name.clone())).copied().filter(|_| is_possible)
    }

    /// The role of a binding; `None` when nobody brings it.
    pub fn role(&self, binding: &Binding) -> Option<&Role> {
        self.role_at(binding).map(|at| &self.roles[at])
    }
}

/// Puts something among others; of two with one namespace and name, the last one is what the cluster has in the end.
fn put<T>(all: &mut Vec<T>, by_name: &mut Index<(Name, Name), usize>, id: (Name, Name), one: T) {
    if let Some(at) = by_name.get(&id) {
        all[*at] = one;
        return;
    }
    by_name.insert(id, all.len());
    all.push(one);
}

/// Whether an object may say something about the rights on a cluster.
fn tells(object: &Object) -> bool {
    match object.kind() {
        "Role" | "ClusterRole" | "RoleBinding" | "ClusterRoleBinding" => object.group() == GROUP,
        // The values of Flux Operator's chart may lie in a ConfigMap.
        "ServiceAccount" | "ConfigMap" => object.group().is_empty(),
        "Deployment" => object.name() == "flux-operator",
        _ => is_flux(object) || object.group() == OPERATOR,
    }
}

/// Whether a FluxInstance changes what Flux's own accounts may do: then what is shipped is not what it has.
fn rebinds_flux(object: &Object) -> bool {
    let patches = object.is(OPERATOR, "FluxInstance").then(|| object.node.at_keys(&["spec", "kustomize", "patches"]));
    let mut patches = patches.flatten().map_or(&[][..], Node::items).iter();
    patches.any(|patch| {
        let text = |keys: &[&str]| patch.at_keys(keys).and_then(Node::text).unwrap_or_default();
        text(&["target", "kind"]).contains("ClusterRole") || text(&["patch"]).contains("kind: ClusterRole")
    })
}

fn is_known(name: &str) -> bool {
    !name.is_empty() && !name.contains("${")
}
