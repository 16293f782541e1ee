//! The multi-tenancy lockdown of a cluster.

use std::collections::{BTreeMap, BTreeSet};

use crate::flux::cluster::applied_set::Applied;
use crate::flux::install::installation::controller_of;
use crate::flux::install::lockdown::{Installation, Locks, locks_of_instance};
use crate::kube::groups;

/// The multi-tenancy lockdown of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lockdown {
    /// The service account that Flux impersonates by default.
    pub default_account: Option<String>,
    controllers: BTreeMap<String, Locks>,
}

impl Lockdown {
    /// Detects the lockdown from the objects of a cluster, and from the kustomizations that install Flux from missing
    /// files. `homes` are the namespaces of Flux.
    pub(crate) fn detect(
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
        for instance in received.iter().filter(|applied| applied.object.is(groups::FLUX_OPERATOR, "FluxInstance")) {
            for (name, locks) in locks_of_instance(instance.object) {
                take(&name, locks);
            }
        }
        let mut renamed = Vec::new();
        // A received Deployment already contains the patches. One patch may revert the lockdown of another patch.
        for applied in received {
            let object = applied.object;
            let is_home = applied.namespace().is_none_or(|namespace| homes.contains(namespace));
            let Some(controller) = controller_of(object).filter(|_| is_home) else { continue };
            // Another name may be that of a shard, which reconciles only some objects.
            if object.name() == controller {
                controllers.insert(controller.to_owned(), Locks::read(object));
            } else if !object.name().starts_with(controller) {
                renamed.push((controller, object));
            }
        }
        for (controller, object) in renamed {
            controllers.entry(controller.to_owned()).or_insert_with(|| Locks::read(object));
        }
        controllers.retain(|_, locks| *locks != Locks::default());
        let default_account = controllers.values().find_map(|locks| locks.default_account.clone());
        (!controllers.is_empty()).then_some(Self { default_account, controllers })
    }

    /// The lockdown of a controller, if any.
    pub fn locks(&self, controller: &str) -> Option<&Locks> {
        self.controllers.get(controller)
    }
}
