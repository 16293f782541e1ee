//! The accounts under which Flux applies the content of sources and of FluxInstances.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::flux_identity::{APPLIERS, DefaultIdentity, FluxIdentities, acts_as};
use crate::flux::{Applied, Tenancy, is_kustomization};
use crate::kube::{Object, groups};
use crate::rbac::model::account_kind::AccountKind;
use crate::rbac::model::subject::Account;
use crate::yaml::{Name, Node};

/// The kinds whose fields decide which objects Flux applies.
pub(crate) const CONTENTS: [AccountKind<'static>; 5] = [
    AccountKind { group: groups::SOURCE, kind: "GitRepository", plural: "gitrepositories" },
    AccountKind { group: groups::SOURCE, kind: "OCIRepository", plural: "ocirepositories" },
    AccountKind { group: groups::SOURCE, kind: "Bucket", plural: "buckets" },
    AccountKind { group: groups::SOURCE, kind: "HelmRepository", plural: "helmrepositories" },
    AccountKind { group: groups::FLUX_OPERATOR, kind: "FluxInstance", plural: "fluxinstances" },
];

/// The accounts by kind, namespace and name of the object.
#[derive(Debug, Default)]
pub(crate) struct ContentUsers(BTreeMap<&'static str, BTreeMap<Name, BTreeMap<Name, BTreeSet<Account>>>>);

impl ContentUsers {
    /// Adds the account of an object that uses a source, or of a FluxInstance.
    pub(crate) fn add(&mut self, applied: &Applied<'_>, identities: &FluxIdentities, tenancy: &Tenancy) {
        let (object, Some(namespace)) = (applied.object, applied.namespace()) else { return };
        if object.is(groups::FLUX_OPERATOR, "FluxInstance") {
            if let Some(operator) = identities.operator() {
                self.insert("FluxInstance", namespace, object.name(), operator.clone());
            }
            return;
        }
        let Some(source) = source_of(object) else { return };
        let Some(user) = user(object, namespace, identities, tenancy) else { return };
        let field = |key: &str| source.get(key).and_then(Node::text).filter(|text| !text.is_empty());
        if let (Some(kind), Some(name)) = (field("kind"), field("name")) {
            self.insert(kind, field("namespace").unwrap_or(namespace), name, user);
        }
    }

    fn insert(&mut self, kind: &str, namespace: &str, name: &str, user: Account) {
        let Some(kind) = CONTENTS.iter().find(|one| one.kind == kind) else { return };
        let objects = self.0.entry(kind.kind).or_default().entry(namespace.into()).or_default();
        objects.entry(name.into()).or_default().insert(user);
    }

    /// The objects of a kind in a namespace, or in the whole cluster if `scope` is empty.
    pub(crate) fn of_kind(
        &self,
        kind: &str,
        scope: &str,
    ) -> impl Iterator<Item = (&Name, &BTreeMap<Name, BTreeSet<Account>>)> {
        let bounds = match scope {
            "" => (Bound::Unbounded, Bound::Unbounded),
            one => (Bound::Included(one), Bound::Included(one)),
        };
        self.0.get(kind).into_iter().flat_map(move |all| all.range::<str, _>(bounds))
    }
}

/// The reference to the source of a Kustomization or HelmRelease.
fn source_of(object: &Object) -> Option<&Node> {
    let node = |keys: &[&str]| object.node.at_keys(keys);
    if is_kustomization(object) {
        node(&["spec", "sourceRef"])
    } else if object.is(groups::HELM, "HelmRelease") {
        node(&["spec", "chartRef"]).or_else(|| node(&["spec", "chart", "spec", "sourceRef"]))
    } else {
        None
    }
}

/// The account under which Flux applies an object.
///
/// An object of a tenant without an account is a fault of the lockdown, so only the objects in the namespace of Flux use
/// the account of the controller.
fn user(object: &Object, namespace: &str, identities: &FluxIdentities, tenancy: &Tenancy) -> Option<Account> {
    if let Some(account) = acts_as(object, Some(namespace), tenancy) {
        return Some(account);
    }
    let spec = |key: &str| object.node.at_keys(&["spec", key]).filter(|node| !node.is_null());
    let is_own = tenancy.flux_namespaces.contains(namespace) && !tenancy.tenants.contains_key(namespace);
    if spec("kubeConfig").is_some() || spec("serviceAccountName").is_some() || !is_own {
        return None;
    }
    let applier = APPLIERS.iter().find(|one| object.is(one.kind.group, one.kind.kind))?;
    match identities.default_of(applier)? {
        DefaultIdentity::Controller(account) => Some(account.clone()),
        DefaultIdentity::DefaultAccount | DefaultIdentity::Unknown => None,
    }
}
