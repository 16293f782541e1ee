//! The table of releases: `schemas/apis/releases.json`, which `schemas/apis/record-releases` writes.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::setting::Setting;
use super::version_text::version;
use super::versioned_api::Api;
use crate::kube::version::Version;

/// The data of all releases.
#[derive(Debug, Deserialize)]
pub(super) struct Table {
    pub(super) flux: FluxTable,
    pub(super) kubernetes: KubernetesTable,
}

/// The releases of Flux.
#[derive(Debug, Deserialize)]
pub(super) struct FluxTable {
    releases: Vec<FluxRelease>,
    /// The oldest version of Kubernetes that a minor release accepts, and the version that it is built with.
    kubernetes: BTreeMap<String, [String; 2]>,
    pub(super) apis: Vec<Api>,
    pub(super) flags: Vec<Setting>,
    pub(super) gates: Vec<Setting>,
}

/// The releases of Kubernetes.
#[derive(Debug, Deserialize)]
pub(super) struct KubernetesTable {
    pub(super) apis: Vec<Api>,
}

/// A release of Flux.
#[derive(Debug, Deserialize)]
pub struct FluxRelease {
    /// The version.
    #[serde(deserialize_with = "version")]
    pub version: Version,
    /// The versions of its controllers, by name.
    pub controllers: BTreeMap<String, String>,
}

pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../schemas/apis/releases.json")).expect("the table of releases is valid")
});

/// The known releases of Flux, oldest first.
pub fn flux_releases() -> &'static [FluxRelease] {
    &TABLE.flux.releases
}

/// The newest release of Flux that contains a version of a controller.
pub fn flux_release_of(controller: &str, version: &str) -> Option<&'static Version> {
    let contains = |release: &&FluxRelease| release.controllers.get(controller).is_some_and(|own| own == version);
    flux_releases().iter().rev().find(contains).map(|release| &release.version)
}

/// The oldest version of Kubernetes that a release of Flux accepts, and the newest that Flux built it for.
pub fn kubernetes_range(flux: &Version) -> Option<[Version; 2]> {
    let [oldest, newest] = TABLE.flux.kubernetes.get(&format!("{}.{}", flux.major, flux.minor))?;
    Some([Version::parse(oldest)?, Version::parse(newest)?])
}

/// The flags of the controllers.
pub fn flags() -> &'static [Setting] {
    &TABLE.flux.flags
}

/// The feature gates of the controllers.
pub fn gates() -> &'static [Setting] {
    &TABLE.flux.gates
}
