//! Settings: information about a repository that is not in its files.

use std::collections::BTreeMap;

use super::source::Copy;
use crate::config;
use crate::kube::version::Version;
use crate::kustomize::Limits;
use crate::text::Tree;

/// Information about a repository that is not in its files.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The copies of remote artifacts.
    pub copies: Vec<Copy>,
    /// The configured directories with definitions of kinds.
    pub schemas: Vec<Tree>,
    /// The configured paths with policies and their directories, if these are relative to a directory above the linted one.
    pub policies: Vec<(String, Tree)>,
    /// The version of Flux from the command line. It takes precedence over every other version.
    pub flux_version: Option<String>,
    /// The version of Kubernetes from the command line. It takes precedence over every other version.
    pub kubernetes_version: Option<String>,
    /// The versions that a fleet.yaml sets, by cluster.
    pub fleet: BTreeMap<String, FleetVersions>,
    /// The configuration.
    pub config: config::Settings,
    /// The limits of the analysis.
    pub bounds: Bounds,
}

impl Settings {
    /// The version of Kubernetes on a cluster. No file of a repository states it, so that only settings do.
    pub fn kubernetes(&self, cluster: &str) -> Option<Version> {
        let own = self.config.clusters.get(cluster).and_then(|cluster| cluster.kubernetes_version.as_ref());
        let of_fleet = || self.fleet.get(cluster)?.kubernetes.as_deref();
        let of_cluster = own.map(|version| version.0.as_str()).or_else(of_fleet);
        let configured = of_cluster.or_else(|| self.config.kubernetes_version(cluster));
        Version::parse(self.kubernetes_version.as_deref().or(configured)?)
    }
}

/// The versions that a fleet.yaml sets for a cluster.
#[derive(Debug, Clone, Default)]
pub struct FleetVersions {
    /// The version of Flux, or a range of versions.
    pub flux: Option<String>,
    /// The version of Kubernetes.
    pub kubernetes: Option<String>,
}

/// The limits of the analysis of a repository. They bound time and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The maximum number of appliers of a cluster. Appliers that always create further appliers have no fixed point.
    pub appliers: usize,
    /// The maximum number of objects that the appliers of all clusters apply. Appliers may share a build, but a rule visits
    /// the objects of each of them.
    pub applied: usize,
    /// The maximum memory that variables may add to one build, in bytes.
    pub grown_by_one: usize,
    /// The maximum memory that variables may add to all builds, in bytes. Many objects may use one long value.
    pub grown: usize,
    /// The maximum cost of all builds.
    pub builds: Limits,
}

/// The default maximum number of appliers of a cluster.
const MAX_APPLIERS: usize = 20_000;

/// The default maximum number of objects that the appliers of all clusters apply.
const MAX_APPLIED: usize = 1_500_000;

/// The number of objects that the appliers of a cluster may always apply, however many clusters there are.
const MIN_APPLIED: usize = 20_000;

/// The default maximum memory that variables may add to one build, in bytes.
const MAX_GROWN_BY_ONE: usize = 64 << 20;

/// The default maximum memory that variables may add to all builds, in bytes.
const MAX_GROWN: usize = 512 << 20;

/// The default maximum cost of all builds.
const MAX_BUILDS: Limits = Limits { objects: 600_000, steps: 150_000_000, bytes: 768 << 20 };

impl Bounds {
    /// The maximum number of objects that the appliers of one of some clusters apply.
    pub(crate) fn applied_by_one(&self, clusters: usize) -> usize {
        (self.applied / clusters.max(1)).max(MIN_APPLIED.min(self.applied))
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            appliers: MAX_APPLIERS,
            applied: MAX_APPLIED,
            grown_by_one: MAX_GROWN_BY_ONE,
            grown: MAX_GROWN,
            builds: MAX_BUILDS,
        }
    }
}
