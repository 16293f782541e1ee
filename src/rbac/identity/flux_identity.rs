//! The identity under which Flux applies an object.
//!
//! An object names an account of its own namespace in `serviceAccountName`. Without this field, the controller
//! impersonates the account in `--default-service-account`, or acts under its own identity.

use std::collections::BTreeMap;

use crate::flux::{Applied, OperatorAccount, Receiver, Tenancy};
use crate::kube::{Object, groups};
use crate::rbac::model::account_kind::AccountKind;
use crate::rbac::model::subject::Account;
use crate::yaml::{Name, Node};

/// The kinds with `serviceAccountName`, whose account Flux impersonates.
pub(crate) const APPLIERS: [ApplierIdentity; 3] = [
    ApplierIdentity {
        kind: AccountKind { group: groups::KUSTOMIZE, kind: "Kustomization", plural: "kustomizations" },
        controller: "kustomize-controller",
    },
    ApplierIdentity {
        kind: AccountKind { group: groups::HELM, kind: "HelmRelease", plural: "helmreleases" },
        controller: "helm-controller",
    },
    ApplierIdentity {
        kind: AccountKind { group: groups::FLUX_OPERATOR, kind: "ResourceSet", plural: "resourcesets" },
        controller: "flux-operator",
    },
];

/// A kind with `serviceAccountName`, and the controller that reconciles its objects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ApplierIdentity {
    pub(crate) kind: AccountKind<'static>,
    pub(crate) controller: &'static str,
}

/// The identities under which Flux applies objects on a cluster.
#[derive(Debug, Default)]
pub(crate) struct FluxIdentities {
    /// The controllers that run, each with the identity for objects without `serviceAccountName`.
    controllers: BTreeMap<&'static str, DefaultIdentity>,
    /// The account of Flux Operator, which applies the objects of a FluxInstance, if the operator runs.
    operator: Option<Account>,
}

/// The identity that a controller uses for an object without `serviceAccountName`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DefaultIdentity {
    /// The controller itself.
    Controller(Account),
    /// An account of the object's namespace.
    DefaultAccount,
    /// The identity is unknown.
    Unknown,
}

impl FluxIdentities {
    /// Detects the identities on a cluster.
    pub(crate) fn on_cluster(objects: &[Applied<'_>], tenancy: &Tenancy, receiver: &Receiver<'_>) -> Self {
        let mut identities = Self::default();
        if receiver.target.is_some() {
            // If the Flux of another cluster applies the objects, the cluster itself is not known to run Flux.
            return identities;
        }
        let components = objects.iter().find_map(|applied| components(applied.object));
        let home = home(objects, tenancy);
        let has_operator = !matches!(tenancy.operator, OperatorAccount::None);
        identities.operator = has_operator.then(|| Account::new(home.clone(), "flux-operator"));
        for applier in &APPLIERS {
            let account = Account::new(home.clone(), applier.controller);
            let identity = match applier.controller {
                "flux-operator" => match tenancy.operator {
                    OperatorAccount::None => None,
                    OperatorAccount::Unknown => Some(DefaultIdentity::Unknown),
                    OperatorAccount::Own => Some(DefaultIdentity::Controller(account)),
                    OperatorAccount::Default(_) => Some(DefaultIdentity::DefaultAccount),
                },
                _ if components.as_ref().is_some_and(|all| !all.iter().any(|name| &**name == applier.controller)) => {
                    continue;
                }
                controller if tenancy.default_account(controller).is_some() => Some(DefaultIdentity::DefaultAccount),
                // A repository without a root does not contain the installation of Flux.
                _ if receiver.cluster.name.is_empty() => Some(DefaultIdentity::Unknown),
                _ => Some(DefaultIdentity::Controller(account)),
            };
            if let Some(identity) = identity {
                identities.controllers.insert(applier.controller, identity);
            }
        }
        identities
    }

    /// The identity for objects of a kind without `serviceAccountName`; `None` if no controller reconciles these
    /// objects.
    pub(crate) fn default_of(&self, applier: &ApplierIdentity) -> Option<&DefaultIdentity> {
        self.controllers.get(applier.controller)
    }

    /// The account of Flux Operator.
    pub(crate) fn operator(&self) -> Option<&Account> {
        self.operator.as_ref()
    }

    /// The identities of all controllers for objects without `serviceAccountName`.
    pub(crate) fn defaults(&self) -> impl Iterator<Item = &DefaultIdentity> {
        self.controllers.values()
    }
}

/// The account that Flux impersonates for an object: `serviceAccountName`, or the default account of the controller.
///
/// `None` if the object has another kind or targets another cluster, or if the controller acts under its own identity.
pub fn acts_as(object: &Object, namespace: Option<&str>, tenancy: &Tenancy) -> Option<Account> {
    let applier = APPLIERS.iter().find(|one| object.is(one.kind.group, one.kind.kind))?;
    if object.node.at_keys(&["spec", "kubeConfig"]).is_some_and(|node| !node.is_null()) {
        return None;
    }
    let named = object.text_at(&["spec", "serviceAccountName"]).filter(|name| !name.is_empty());
    let name = named.or_else(|| tenancy.default_account(applier.controller));
    Some(Account::new(namespace?, name.filter(|name| !name.contains("${"))?))
}

/// The components of a FluxInstance, if `spec.components` is set.
fn components(object: &Object) -> Option<Vec<Name>> {
    let list = object.is(groups::FLUX_OPERATOR, "FluxInstance").then(|| object.node.at_keys(&["spec", "components"]));
    let names: Vec<Name> = list??.items().iter().filter_map(Node::shared_text).collect();
    (!names.is_empty()).then_some(names)
}

/// The namespace of Flux: the namespace of a FluxInstance, or else preferably a namespace other than `flux-system`.
fn home(objects: &[Applied<'_>], tenancy: &Tenancy) -> Name {
    let instance = objects.iter().find(|applied| applied.object.is(groups::FLUX_OPERATOR, "FluxInstance"));
    let homes = &tenancy.flux_namespaces;
    let other = homes.iter().find(|home| *home != groups::FLUX_NAMESPACE).or_else(|| homes.first());
    let found = instance.and_then(Applied::namespace).or(other.map(String::as_str));
    found.unwrap_or(groups::FLUX_NAMESPACE).into()
}
