//! The objects of a Kustomization that become healthy later.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::api::catalog::Lookup;
use crate::api::schema::{Link, Schema};
use crate::flux::{Applied, AppliedSet, State};
use crate::kube::{Object, groups};
use crate::lint::facts::pods::containers::references;
use crate::lint::view::View;
use crate::text::folder_of;
use crate::yaml::Node;

/// The health of the objects of a Kustomization.
#[derive(Debug, Clone, Copy)]
pub(super) struct Health {
    /// Whether the Kustomization applies or may apply an object that becomes healthy later.
    pub(super) is_awaited: bool,
    /// Whether a PersistentVolumeClaim may wait for the pods of other appliers.
    pub(super) waits_for_pods: bool,
}

/// The contents of the Kustomizations of a cluster.
pub(super) struct Contents<'v, 'a> {
    view: &'v View<'a>,
    /// The positions of the appliers with unknown contents that may be other objects than CRDs.
    unknown: OnceCell<BTreeSet<usize>>,
    /// The directories of a repository without a root, and whether an object in a file below becomes healthy later.
    folders: OnceCell<BTreeMap<&'a str, bool>>,
}

/// The kinds of Kubernetes that are not healthy as soon as they exist.
///
/// Flux applies CRDs and Namespaces in a separate stage, and waits for them.
///
/// Source: `GetLegacyConditionsFn` of `kstatus`, and `ApplyAllStaged` of `fluxcd/pkg/ssa`.
const KINDS: [(&str, &str); 9] = [
    ("", "PersistentVolumeClaim"),
    ("", "Pod"),
    ("", "ReplicationController"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
    ("batch", "Job"),
    ("policy", "PodDisruptionBudget"),
];

/// The API groups of operators whose kinds have no condition that Flux reads, so that they are healthy as soon as they exist.
const WITHOUT_HEALTH: [&str; 5] =
    ["k8s.cni.cncf.io", "metallb.io", "monitoring.coreos.com", "traefik.containo.us", "traefik.io"];

impl<'v, 'a> Contents<'v, 'a> {
    pub(super) fn of_view(view: &'v View<'a>) -> Self {
        Self { view, unknown: OnceCell::new(), folders: OnceCell::new() }
    }

    /// The health of the objects of a Kustomization or ResourceSet.
    pub(super) fn health(&self, object: &Object) -> Health {
        let unknown = Health { is_awaited: true, waits_for_pods: false };
        // An author who sets `wait` or `healthCheckExprs` expects objects with health.
        let expects_health =
            ["wait", "healthCheckExprs"].iter().any(|field| object.node.at_keys(&["spec", field]).is_some());
        if object.kind() != "Kustomization" || expects_health {
            return unknown;
        }
        if !self.view.is_whole() {
            return Health { is_awaited: self.may_have_health(object), ..unknown };
        }
        let Some(set) = self.view.applied_by(object) else { return unknown };
        let claims = set.applied().filter(|claim| is_claim(claim.object));
        let waits_for_pods = claims.into_iter().any(|claim| self.waits_for_pods(claim.object, set));
        let is_healthy_later = |one: &Applied<'_>| {
            self.becomes_healthy(one.object) && !(is_claim(one.object) && self.waits_for_pods(one.object, set))
        };
        let is_awaited = self.may_have_others(set) || set.applied().any(|one| is_healthy_later(&one));
        Health { is_awaited, waits_for_pods }
    }

    /// Returns whether an object may become healthy later than it exists.
    fn becomes_healthy(&self, object: &Object) -> bool {
        let group = object.group();
        // The objects that use a source wait for it.
        if group == groups::SOURCE || WITHOUT_HEALTH.contains(&group) {
            return false;
        }
        if !group.contains('.') || group.ends_with(".k8s.io") {
            return KINDS.contains(&(group, object.kind()));
        }
        let version = object.api_version().rsplit('/').next().unwrap_or_default();
        let Lookup::Found(found) = self.view.catalog().find(group, version, object.kind()) else { return true };
        let Some(status) = property(&found.schema, "status") else { return found.schema.preserves_unknown };
        let has = |name: &str| property(&status, name).is_some();
        status.properties.is_empty() || has("conditions") || has("observedGeneration")
    }

    /// Returns whether a Kustomization may apply other unknown objects than CRDs.
    fn may_have_others(&self, set: &AppliedSet) -> bool {
        let is_failed = set.by.state == State::Failed;
        !set.is_complete() && (is_failed || !set.lacks_only_appliers_and_bases() || self.is_unknown(set.by.at))
    }

    fn is_unknown(&self, at: usize) -> bool {
        self.unknown.get_or_init(|| self.view.unknown_sources().beyond_definitions()).contains(&at)
    }

    /// Returns whether a PersistentVolumeClaim becomes healthy only after another applier applies a pod that mounts it.
    ///
    /// The default of a class is unknown, and most classes wait for the first pod.
    fn waits_for_pods(&self, claim: &Object, set: &AppliedSet) -> bool {
        let spec = |field: &str| claim.text_at(&["spec", field]);
        let is_bound_at_once = match spec("storageClassName") {
            _ if spec("volumeName").is_some_and(|name| !name.is_empty()) => true,
            // The claim has a volume that a user created.
            Some("") => true,
            Some(class) => self.view.find("storage.k8s.io", "StorageClass", "", class).is_some_and(|class| {
                class.object.text_at(&["volumeBindingMode"]).is_none_or(|mode| mode == "Immediate")
            }),
            None => false,
        };
        let mounts = |one: &Object| {
            let is_beside = one.namespace() == claim.namespace();
            let is_own = |name: &Node| name.text() == Some(claim.name());
            let mut of_pods = references(one).into_iter();
            let is_mounted = is_beside
                && of_pods.any(|reference| reference.kind == "PersistentVolumeClaim" && is_own(reference.name));
            is_mounted || is_beside && one.is(groups::HELM, "HelmRelease") || is_applier(one)
        };
        !is_bound_at_once && !set.applied().any(|one| mounts(one.object))
    }

    /// Returns whether a Kustomization of a repository without a root may apply an object that becomes healthy later.
    fn may_have_health(&self, object: &Object) -> bool {
        let folders = self.folders.get_or_init(|| {
            let mut folders: BTreeMap<&'a str, bool> = BTreeMap::new();
            for applied in self.view.objects() {
                let has_health = self.becomes_healthy(applied.object);
                let file = applied.object.node.origin.written().file().path();
                let above = std::iter::successors(Some(folder_of(file)), |path| {
                    Some(folder_of(path)).filter(|_| !path.is_empty())
                });
                above.for_each(|folder| *folders.entry(folder).or_default() |= has_health);
            }
            folders
        });
        let path = object.text_at(&["spec", "path"]).unwrap_or_default();
        folders.get(path.trim_start_matches("./").trim_matches('/')).copied().unwrap_or(true)
    }
}

/// The schema of a field.
fn property(schema: &Schema, name: &str) -> Option<Link> {
    schema.properties.iter().find(|(own, _)| **own == *name).map(|(_, link)| link.clone())
}

fn is_claim(object: &Object) -> bool {
    object.is("", "PersistentVolumeClaim")
}

/// Returns whether an object applies other objects.
fn is_applier(object: &Object) -> bool {
    object.is(groups::KUSTOMIZE, "Kustomization") || object.is(groups::FLUX_OPERATOR, "ResourceSet")
}
