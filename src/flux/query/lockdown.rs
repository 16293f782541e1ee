//! How Flux is locked down on a cluster.

use std::collections::{BTreeMap, BTreeSet};

use crate::flux::cluster::applied_set::Applied;
use crate::flux::install::installation::CONTROLLERS;
use crate::flux::install::lockdown::{Installation, Locks, locks_of_instance};
use crate::kube::groups;

/// How Flux is locked down.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lockdown {
    /// The account that Flux impersonates where an object names none.
    pub default_account: Option<String>,
    controllers: BTreeMap<String, Locks>,
}

impl Lockdown {
    /// Reads it from what a cluster receives, and from the kustomizations that bring its Flux from files that are not
    /// there yet. `homes` are the namespaces that Flux is installed in.
    pub(crate) fn of(
        received: &[Applied<'_>],
        installations: &[&Installation],
        homes: &BTreeSet<String>,
    ) -> Option<Self> {
        let mut controllers: BTreeMap<String, Locks> = BTreeMap::new();
        let mut take = |name: &str, locks: Locks| controllers.entry(name.to_string()).or_default().add(locks);
        for installation in installations {
            for (name, locks) in &installation.locks {
                take(name, locks.clone());
            }
        }
        for applied in received {
            let object = applied.object;
            if object.is(groups::FLUX_OPERATOR, "FluxInstance") {
                for (name, locks) in locks_of_instance(object) {
                    take(&name, locks);
                }
            }
            let is_home = applied.namespace().is_none_or(|namespace| homes.contains(namespace));
            if is_home && object.is("apps", "Deployment") && CONTROLLERS.contains(&object.name()) {
                take(object.name(), Locks::of(object));
            }
        }
        controllers.retain(|_, locks| *locks != Locks::default());
        let default_account = controllers.values().find_map(|locks| locks.default_account.clone());
        (!controllers.is_empty()).then_some(Self { default_account, controllers })
    }

    /// What a controller refuses, if anything.
    pub fn locks(&self, controller: &str) -> Option<&Locks> {
        self.controllers.get(controller)
    }
}
