//! The roles, bindings and kinds that Kubernetes and Flux define without a manifest in the repository.
//!
//! `testdata/oracles/rbac/record` generates `shipped.json` with the code of Kubernetes.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::role::{Binding, BoundSubject, DefinedIn, Product, Role, RoleRef};
use super::rule::Rule;
use super::subject::{Account, Subject};
use crate::kube::selector::Selector;
use crate::kube::{Scope, groups};
use crate::yaml::Name;

/// The shipped roles, bindings and kinds.
#[derive(Deserialize)]
pub(crate) struct Shipped {
    roles: Vec<ShippedRole>,
    bindings: Vec<ShippedBinding>,
    pub(crate) kinds: Vec<ShippedKind>,
}

#[derive(Deserialize)]
struct ShippedRole {
    by: Product,
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
    by: Product,
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

/// A shipped kind.
#[derive(Deserialize)]
pub(crate) struct ShippedKind {
    pub(crate) group: Name,
    pub(crate) kind: Name,
    pub(crate) plural: Name,
    namespaced: bool,
}

/// The shipped objects, read once.
pub(crate) static SHIPPED: LazyLock<Shipped> = LazyLock::new(|| {
    serde_json::from_str(include_str!("shipped.json")).expect("the file is generated, and a test reads it")
});

impl ShippedKind {
    /// The scope of the objects of the kind.
    pub(super) fn scope(&self) -> Scope {
        if self.namespaced { Scope::Namespaced } else { Scope::Cluster }
    }
}

impl Shipped {
    /// The roles of a product, with Flux installed in the namespace `home`.
    pub(crate) fn roles(&self, by: Product, home: &str) -> impl Iterator<Item = Role> {
        let own = self.roles.iter().filter(move |role| role.by == by);
        own.map(move |role| Role {
            namespace: role.namespace.clone(),
            name: installed_name(by, &role.name, home),
            place: DefinedIn::Shipped(by),
            rules: role.rules.clone(),
            labels: role.labels.clone(),
            aggregates: role.aggregate.iter().map(ShippedSelector::selector).collect(),
            is_opaque: false,
            has_hidden_name: false,
            hidden_labels: Vec::new(),
        })
    }

    /// The bindings of a product, with Flux installed in the namespace `home`.
    pub(crate) fn bindings(&self, by: Product, home: &str) -> impl Iterator<Item = Binding> {
        let own = self.bindings.iter().filter(move |binding| binding.by == by);
        own.map(move |binding| {
            let place = DefinedIn::Shipped(by);
            let name = if *binding.role == *"crd-controller" {
                installed_name(by, &binding.role, home)
            } else {
                binding.role.clone()
            };
            let subjects = binding.subjects.iter().filter_map(|subject| subject.subject(home));
            Binding {
                namespace: binding.namespace.clone(),
                name: installed_name(by, &binding.name, home),
                place: place.clone(),
                role: RoleRef {
                    is_cluster_role: &*binding.kind == "ClusterRole",
                    name,
                    is_hidden: false,
                    place: place.clone(),
                },
                subjects: subjects.map(|subject| BoundSubject { subject, place: place.clone() }).collect(),
                is_opaque: false,
            }
        })
    }
}

/// The name of a shipped object. The names of Flux's objects end with the namespace in which Flux is installed.
fn installed_name(by: Product, name: &Name, home: &str) -> Name {
    if by == Product::Flux { format!("{name}-{home}").into() } else { name.clone() }
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
