//! What a cluster has before anybody writes a manifest: the roles, bindings and kinds of Kubernetes and Flux.
//!
//! `shipped.json` is made by `testdata/oracles/rbac/record`, which asks Kubernetes' own code.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::role::{Binding, Bound, Place, Role, RoleRef, Shipper};
use super::rule::Rule;
use super::subject::{Account, Subject};
use crate::kube::groups;
use crate::kube::selector::Selector;
use crate::yaml::Name;

/// What is shipped.
#[derive(Deserialize)]
pub(crate) struct Shipped {
    roles: Vec<ShippedRole>,
    bindings: Vec<ShippedBinding>,
    pub(crate) kinds: Vec<ShippedKind>,
}

#[derive(Deserialize)]
struct ShippedRole {
    by: Shipper,
    #[serde(default)]
    namespace: Name,
    name: Name,
    #[serde(default)]
    labels: BTreeMap<Name, Name>,
    #[serde(default)]
    aggregate: Vec<ShippedSelector>,
    rules: Vec<Arc<Rule>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ShippedSelector {
    match_labels: BTreeMap<Name, Name>,
}

#[derive(Deserialize)]
struct ShippedBinding {
    by: Shipper,
    #[serde(default)]
    namespace: Name,
    name: Name,
    kind: Name,
    role: Name,
    #[serde(default)]
    subjects: Vec<ShippedSubject>,
}

#[derive(Deserialize)]
struct ShippedSubject {
    kind: Name,
    #[serde(default)]
    namespace: Name,
    name: Name,
}

/// A kind that a cluster serves.
#[derive(Deserialize)]
pub(crate) struct ShippedKind {
    pub(crate) group: Name,
    pub(crate) kind: Name,
    pub(crate) plural: Name,
    pub(super) namespaced: bool,
}

/// What is shipped, read once.
pub(super) static SHIPPED: LazyLock<Shipped> = LazyLock::new(|| {
    serde_json::from_str(include_str!("shipped.json")).expect("it is made by a program, and a test reads it")
});

impl Shipped {
    /// The roles of a shipper, where Flux is installed in `home`.
    pub(crate) fn roles(&self, by: Shipper, home: &str) -> impl Iterator<Item = Role> {
        let own = self.roles.iter().filter(move |role| role.by == by);
        own.map(move |role| Role {
            namespace: role.namespace.clone(),
            name: named(by, &role.name, home),
            place: Place::Shipped(by),
            rules: role.rules.clone(),
            labels: role.labels.clone(),
            gathers: role.aggregate.iter().map(ShippedSelector::selector).collect(),
            is_opaque: false,
        })
    }

    /// The bindings of a shipper, where Flux is installed in `home`.
    pub(crate) fn bindings(&self, by: Shipper, home: &str) -> impl Iterator<Item = Binding> {
        let own = self.bindings.iter().filter(move |binding| binding.by == by);
        own.map(move |binding| {
            let place = Place::Shipped(by);
            let name = if binding.role.as_ref() == "crd-controller" {
                named(by, &binding.role, home)
            } else {
                binding.role.clone()
            };
            let subjects = binding.subjects.iter().filter_map(|subject| subject.subject(home));
            Binding {
                namespace: binding.namespace.clone(),
                name: named(by, &binding.name, home),
                place: place.clone(),
                role: RoleRef { is_cluster_role: &*binding.kind == "ClusterRole", name, place: place.clone() },
                subjects: subjects.map(|subject| Bound { subject, place: place.clone() }).collect(),
                is_opaque: false,
            }
        })
    }
}

/// The name of a shipped object: what is Flux's own ends with the namespace that it is installed in.
fn named(by: Shipper, name: &Name, home: &str) -> Name {
    if by == Shipper::Flux { format!("{name}-{home}").into() } else { name.clone() }
}

impl ShippedSelector {
    fn selector(&self) -> Selector {
        Selector::of_labels(&self.match_labels)
    }
}

impl ShippedSubject {
    fn subject(&self, home: &str) -> Option<Subject> {
        let namespace = if &*self.namespace == groups::FLUX_NAMESPACE { home } else { &self.namespace };
        match &*self.kind {
            "User" => Some(Subject::User(self.name.clone())),
            "Group" => Some(Subject::Group(self.name.clone())),
            "ServiceAccount" => Some(Account::new(namespace, self.name.clone()).user()),
            _ => None,
        }
    }
}
