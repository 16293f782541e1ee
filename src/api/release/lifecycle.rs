//! The lifecycle of API versions: served, deprecated, removed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::LazyLock;

use super::table::TABLE;
use super::versioned_api::Api;
use crate::api::catalog::{Product, Releases};
use crate::kube::version::{Version, api_version_order};

/// The status of an API version in a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status<'a> {
    /// The release serves the version.
    Served,
    /// The release serves the version, which is deprecated since a release.
    Deprecated(&'a Version),
    /// The version is removed since a release.
    Removed(&'a Version),
    /// The release is unknown.
    Unknown,
}

type Key<'a> = (&'a str, &'a str, &'a str);

static APIS: LazyLock<BTreeMap<Key<'static>, &'static Api>> = LazyLock::new(|| {
    let all = TABLE.flux.apis.iter().chain(&TABLE.kubernetes.apis);
    all.map(|api| ((&*api.group, &*api.version, &*api.kind), api)).collect()
});

/// The versions that a release deprecates or removes, with their kinds.
static ENDING: LazyLock<BTreeMap<&'static str, BTreeSet<&'static str>>> = LazyLock::new(|| {
    let mut ending: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for ((_, version, kind), api) in APIS.iter() {
        if api.deprecated.is_some() || api.removed.is_some() {
            ending.entry(version).or_default().insert(kind);
        }
    }
    ending
});

/// Returns whether a text may name an API version that a release deprecates or removes: a fast check that excludes most
/// texts.
pub fn may_name_ending_api(text: &str) -> bool {
    ENDING.iter().any(|(version, kinds)| text.contains(version) && kinds.iter().any(|kind| text.contains(kind)))
}

/// The lifecycle of an `apiVersion` and kind; `None` if no release deprecates or removes it.
pub fn api(group: &str, version: &str, kind: &str) -> Option<&'static Api> {
    let api = *APIS.get(&(group, version, kind))?;
    (api.deprecated.is_some() || api.removed.is_some()).then_some(api)
}

impl Api {
    /// The product that serves the kind.
    pub fn product(&self) -> Product {
        Product::of_group(&self.group).unwrap_or(Product::Kubernetes)
    }

    /// The `apiVersion`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// The status of the version on a cluster.
    pub fn status(&self, releases: &Releases) -> Status<'_> {
        let release = match self.product() {
            Product::Flux => releases.flux.as_ref(),
            _ => releases.kubernetes.as_ref(),
        };
        let Some(release) = release else { return Status::Unknown };
        let release = without_prerelease(release);
        let since = |version: &Option<Version>| version.as_ref().is_some_and(|version| *version <= release);
        match (&self.removed, &self.deprecated) {
            (Some(removed), _) if since(&self.removed) => Status::Removed(removed),
            (_, Some(deprecated)) if since(&self.deprecated) => Status::Deprecated(deprecated),
            _ => Status::Served,
        }
    }
}

/// The `apiVersion` and the kind that replace a version on a cluster; `None` if there is no replacement, or if the release
/// of the cluster does not serve it.
pub fn replacement_for(api: &Api, releases: &Releases) -> Option<(String, String)> {
    let kind = api.replacement_kind.as_ref().unwrap_or(&api.kind).clone();
    if api.product() == Product::Flux {
        let is_served = match (&releases.flux, &api.replacement_since) {
            (Some(flux), Some(since)) => without_prerelease(flux) >= *since,
            _ => true,
        };
        let newest = api.replacement.clone().filter(|_| is_served);
        return newest.or_else(|| newest_served(api, releases)).map(|version| (version, kind));
    }
    if let Some(version) = &api.replacement {
        return Some((version.clone(), kind));
    }
    // Some removals do not name their replacement: then it is the most stable version of the kind.
    let others = Product::Kubernetes.versions(&api.group, &api.kind).filter(|known| *known.version != *api.version);
    let newest = others.max_by(|one, other| api_version_order(&one.version, &other.version))?;
    let is_newer = api_version_order(&newest.version, &api.version).is_gt();
    is_newer.then(|| (format!("{}/{}", newest.group, newest.version), kind))
}

/// The newest version of a deprecated kind of Flux that a release serves.
fn newest_served(api: &Api, releases: &Releases) -> Option<String> {
    let release = releases.flux.as_ref().map(without_prerelease)?;
    let is_served = |known: &&Api| {
        (&known.group, &known.kind) == (&api.group, &api.kind)
            && api_version_order(&known.version, &api.version).is_gt()
            && known.since.as_ref().is_some_and(|since| *since <= release)
            && !matches!(known.status(releases), Status::Removed(_))
    };
    let served = TABLE.flux.apis.iter().filter(is_served);
    served.max_by(|one, other| api_version_order(&one.version, &other.version)).map(Api::api_version)
}

/// The release of a prerelease, which has the same APIs.
fn without_prerelease(version: &Version) -> Version {
    Version::release(version.major, version.minor, version.patch)
}

impl fmt::Display for Api {
    /// Writes ``Kind `group/version` ``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind, self.api_version())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_served_then_deprecated_then_removed() {
        let api = api("helm.toolkit.fluxcd.io", "v2beta2", "HelmRelease").unwrap();
        let status = |flux: &str| api.status(&Releases { kubernetes: None, flux: Version::parse(flux) });
        assert_eq!(status("2.2.3"), Status::Served);
        assert!(matches!(status("2.7.5"), Status::Deprecated(since) if since.minor == 3));
        assert!(matches!(status("2.8.0"), Status::Removed(since) if since.minor == 8));
        assert!(matches!(status("2.8.0-rc.1"), Status::Removed(_)));
        assert_eq!(api.status(&Releases::default()), Status::Unknown);
    }

    #[test]
    fn a_replacement_must_be_served() {
        let of = |flux: &str| {
            let api = api("source.toolkit.fluxcd.io", "v1beta2", "OCIRepository").unwrap();
            replacement_for(api, &Releases { kubernetes: None, flux: Version::parse(flux) })
        };
        assert_eq!(of("2.5.1"), None);
        assert_eq!(of("2.6.0").unwrap().0, "source.toolkit.fluxcd.io/v1");
        assert_eq!(of("2.6.0-rc.1").unwrap().0, "source.toolkit.fluxcd.io/v1");
        let release = api("helm.toolkit.fluxcd.io", "v2beta1", "HelmRelease").unwrap();
        let flux = Releases { kubernetes: None, flux: Version::parse("2.2.3") };
        assert_eq!(replacement_for(release, &flux).unwrap().0, "helm.toolkit.fluxcd.io/v2beta2");
        let policy = api("admissionregistration.k8s.io", "v1alpha1", "ValidatingAdmissionPolicy").unwrap();
        assert_eq!(replacement_for(policy, &Releases::default()).unwrap().0, "admissionregistration.k8s.io/v1");
        let security = api("policy", "v1beta1", "PodSecurityPolicy").unwrap();
        assert_eq!(replacement_for(security, &Releases::default()), None);
    }
}
