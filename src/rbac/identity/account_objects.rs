//! The objects of a cluster that name a service account.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::flux_identity::APPLIERS;
use crate::kube::Object;
use crate::rbac::model::account_kind::WORKLOADS;
use crate::yaml::Name;

/// The Deployments that every installation of Flux has.
const CONTROLLERS: [&str; 3] = ["helm-controller", "kustomize-controller", "source-controller"];

/// The objects of a cluster that name a service account and can be changed: by kind, namespace and name.
#[derive(Debug, Default)]
pub(crate) struct AccountObjects(BTreeMap<&'static str, BTreeMap<Name, BTreeSet<Name>>>);

impl AccountObjects {
    /// Adds an object of a kind that names an account, unless the field is immutable.
    pub(crate) fn add(&mut self, object: &Object, namespace: Option<&str>) {
        let kinds = APPLIERS.iter().map(|applier| applier.kind).chain(WORKLOADS);
        let Some(kind) = kinds.filter(|kind| object.is(kind.group, kind.kind)).map(|kind| kind.kind).next() else {
            return;
        };
        // The template of a Job and the account of a Pod are immutable.
        if let Some(namespace) = namespace.filter(|_| kind != "Job" && kind != "Pod") {
            self.0.entry(kind).or_default().entry(namespace.into()).or_default().insert(object.name().into());
        }
    }

    /// Adds the Deployments of Flux's controllers, which the bootstrap creates.
    pub(crate) fn add_controllers(&mut self, home: &str) {
        let names = CONTROLLERS.iter().map(|name| Name::from(*name));
        self.0.entry("Deployment").or_default().entry(home.into()).or_default().extend(names);
    }

    /// The objects of a kind in a namespace, or in the whole cluster if `scope` is empty.
    pub(crate) fn of_kind(&self, kind: &str, scope: &str) -> impl Iterator<Item = (&Name, &BTreeSet<Name>)> {
        let bounds = match scope {
            "" => (Bound::Unbounded, Bound::Unbounded),
            one => (Bound::Included(one), Bound::Included(one)),
        };
        self.0.get(kind).into_iter().flat_map(move |all| all.range::<str, _>(bounds))
    }
}
