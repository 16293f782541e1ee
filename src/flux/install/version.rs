//! The version of Flux on a cluster, as far as it affects builds.

use super::command_line::CommandLine;
use crate::api::release::{flux_release_of, flux_releases};
use crate::flux::settings::Settings;
use crate::kube::Object;
use crate::kube::semver_range::Range;
use crate::kube::version::Version;
use crate::yaml::Node;

/// The first release that refuses undefined variables by default.
const STRICT_SINCE: (u64, u64) = (2, 9);
/// The feature gate of kustomize-controller for undefined variables.
const GATE: &str = "StrictPostBuildSubstitutions";

/// The version of Flux on a cluster, as far as the repository states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FluxVersion {
    /// The version or the range of versions.
    text: String,
    /// The newest release in the range.
    newest: Version,
    /// Whether the manifests are in a pinned artifact, or in the image of Flux Operator. They are those of the release at
    /// the date of the artifact or of the operator, not of the newest release.
    is_pinned: bool,
}

impl FluxVersion {
    /// Detects the version from the settings, the FluxInstances, and the Deployments of Flux's controllers.
    pub fn detect(cluster: &str, controllers: &[&Object], instances: &[&Object], settings: &Settings) -> Option<Self> {
        let forced = settings.flux_version.as_deref();
        let configured = settings.config.clusters.get(cluster).and_then(|cluster| cluster.flux_version.as_ref());
        let configured = configured.map(|version| version.0.as_str());
        if let Some(version) = forced.or(configured) {
            return Self::parse(version);
        }
        let instance = instances.iter().find_map(|instance| instance.text_at(&["spec", "distribution", "version"]));
        if let Some(version) = instance {
            let is_pinned = instances.iter().any(|instance| is_pinned(instance));
            return Some(Self { is_pinned, ..Self::parse(version)? });
        }
        let label = controllers.iter().find_map(|object| object.label("app.kubernetes.io/version"));
        let of_label = label.and_then(Self::parse);
        let of_image = || controllers.iter().find_map(|object| Self::of_image(object));
        let of_fleet = || Self::parse(settings.fleet.get(cluster)?.flux.as_deref()?);
        let configured = || Self::parse(settings.config.flux_version(cluster)?);
        of_label.or_else(of_image).or_else(of_fleet).or_else(configured)
    }

    /// Parses a version or a range of versions: `2.9.4`, `v2.9`, `2.x`, `>=2.7 <2.9`.
    pub fn parse(text: &str) -> Option<Self> {
        Some(Self { text: text.to_string(), newest: newest(text)?, is_pinned: false })
    }

    /// The newest release in the range; `None` if a pinned artifact may contain another minor release.
    pub fn release(&self) -> Option<&Version> {
        let minor = |version: &Version| (version.major, version.minor);
        let are_of_one_minor = || {
            let range = Range::parse(&self.text);
            let mut included = releases().filter(|version| range.as_ref().is_some_and(|range| range.contains(version)));
            included.all(|version| minor(&version) == minor(&self.newest))
        };
        (!self.is_pinned || are_of_one_minor()).then_some(&self.newest)
    }

    /// The version of the release that contains the image of a controller.
    fn of_image(deployment: &Object) -> Option<Self> {
        let containers = deployment.node.at_keys(&["spec", "template", "spec", "containers"]).map(Node::items)?;
        containers.iter().find_map(|container| {
            let image = container.get("image")?.text()?;
            let (name, tag) = image.split('@').next()?.rsplit_once(':')?;
            let (name, tag) = (name.rsplit('/').next()?, tag.trim_start_matches('v'));
            if let Some(release) = flux_release_of(name, tag) {
                return Self::parse(&format!("{}.{}.{}", release.major, release.minor, release.patch));
            }
            let newest = release_of(name, &Version::parse(tag)?)?;
            Some(Self { text: format!("{}.{}", newest.major, newest.minor), newest, is_pinned: false })
        })
    }

    /// Returns whether Flux has this or a later minor release, such as `(2, 7)`; `None` if that is unknown.
    pub fn is_at_least(&self, (major, minor): (u64, u64)) -> Option<bool> {
        let since = Version::release(major, minor, 0);
        if (self.newest.major, self.newest.minor) < (major, minor) {
            return Some(false);
        }
        (!self.is_pinned || !includes_release_before(&self.text, &since)).then_some(true)
    }
}

/// The release of Flux that contains a version of a controller: the controllers advance by a minor version with each
/// minor release of Flux.
///
/// Source: `manifests/bases` of `github.com/fluxcd/flux2` at the tags `v2.0.0` to `v2.9.0`.
fn release_of(controller: &str, version: &Version) -> Option<Version> {
    let minor = match (controller, version.major, version.minor) {
        ("source-controller" | "kustomize-controller" | "notification-controller", 1, minor) => minor,
        ("helm-controller", 1, minor) => minor + 3,
        ("helm-controller", 0, minor @ 35..=37) => minor - 35,
        ("image-reflector-controller" | "image-automation-controller", 1, minor) => minor + 7,
        // Flux 0.41 is the last release before 2.0.
        ("source-controller" | "kustomize-controller" | "notification-controller", 0, _)
        | ("helm-controller", 0, ..=31) => {
            return Some(Version::release(0, 41, 0));
        }
        _ => return None,
    };
    Some(Version::release(2, minor, 0))
}

/// The newest release in a version or a range of versions: `2.9.4`, `v2.9`, `2.x`, `>=2.7 <2.9`.
fn newest(text: &str) -> Option<Version> {
    let range = Range::parse(text)?;
    let known = releases().find(|version| range.contains(version));
    // Other versions may be newer than this program, or prereleases.
    known.or_else(|| range.bounds().filter(|version| range.contains(version)).max().cloned())
}

/// Returns whether a range contains a release before `since`.
fn includes_release_before(text: &str, since: &Version) -> bool {
    Range::parse(text).is_some_and(|range| releases().any(|version| version < *since && range.contains(&version)))
}

/// Returns whether a FluxInstance installs manifests from a pinned artifact.
///
/// Without an artifact, Flux Operator installs the manifests in its own image. See `fetch` in
/// `internal/controller/fluxinstance_controller.go` of Flux Operator.
fn is_pinned(instance: &Object) -> bool {
    let artifact = instance.text_at(&["spec", "distribution", "artifact"]).filter(|artifact| !artifact.is_empty());
    let Some(artifact) = artifact else { return true };
    let name = artifact.rsplit('/').next().unwrap_or_default();
    name.contains('@') || name.split_once(':').is_some_and(|(_, tag)| tag != "latest")
}

/// The known releases, newest first.
fn releases() -> impl Iterator<Item = Version> {
    flux_releases().iter().rev().map(|release| release.version.clone())
}

/// The effect of an undefined variable on a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strictness {
    /// An undefined variable fails the build.
    Strict,
    /// Flux substitutes an empty text, because of the version.
    Lenient,
    /// Flux substitutes an empty text, because the feature gate is off.
    SwitchedOff,
    /// The version of Flux is unknown. The newest version is strict.
    #[default]
    Assumed,
}

impl Strictness {
    /// Returns whether builds assume that an undefined variable fails the build.
    pub fn is_strict(self) -> bool {
        !matches!(self, Self::Lenient | Self::SwitchedOff)
    }

    /// Detects the strictness from the arguments of kustomize-controller, or from the version. `controllers` are the
    /// Deployments of kustomize-controller, of which the last one has precedence. `instances` are the FluxInstances.
    pub(crate) fn detect(cluster: &str, controllers: &[&Object], instances: &[&Object], settings: &Settings) -> Self {
        let gate = controllers.iter().filter_map(|object| gate(object)).next_back();
        if let Some(on) = gate {
            return if on { Self::Strict } else { Self::SwitchedOff };
        }
        let version = FluxVersion::detect(cluster, controllers, instances, settings);
        match version.and_then(|version| version.is_at_least(STRICT_SINCE)) {
            Some(true) => Self::Strict,
            Some(false) => Self::Lenient,
            None => Self::Assumed,
        }
    }
}

/// Returns whether an object is the Deployment of kustomize-controller.
pub(crate) fn is_controller(object: &Object) -> bool {
    object.is("apps", "Deployment") && object.name() == "kustomize-controller"
}

/// The value of the feature gate in the arguments of a controller. The last value has precedence.
fn gate(deployment: &Object) -> Option<bool> {
    let lines = CommandLine::all(deployment);
    let gates = lines.iter().flat_map(|line| line.values("--feature-gates"));
    let values = gates.flat_map(|gates| gates.split(',')).filter_map(|one| one.split_once('='));
    values.filter(|(name, _)| name.trim() == GATE).filter_map(|(_, value)| value.trim().parse().ok()).next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn newest_known() -> (u64, u64, u64) {
        let newest = releases().next().unwrap();
        (newest.major, newest.minor, newest.patch)
    }

    #[test]
    fn a_range_selects_its_newest_release() {
        let newest = |text: &str| newest(text).map(|version| (version.major, version.minor, version.patch));
        assert_eq!(newest("2.x"), Some(newest_known()));
        assert_eq!(newest("*"), Some(newest_known()));
        assert_eq!(newest("~*"), Some(newest_known()));
        assert_eq!(newest("v2.7"), Some((2, 7, 5)));
        assert_eq!(newest("2.8.x"), Some((2, 8, 8)));
        assert_eq!(newest("2.8.12"), Some((2, 8, 12)));
        assert_eq!(newest("= 2.9.1"), Some((2, 9, 1)));
        assert_eq!(newest("~2.8.0"), Some((2, 8, 8)));
        assert_eq!(newest("^2.3"), Some(newest_known()));
        assert_eq!(newest(">=2.5.0 <2.9.0"), Some((2, 8, 8)));
        assert_eq!(newest(">= 2.5, < 2.8"), Some((2, 7, 5)));
        assert_eq!(newest("2.5 - 2.7"), Some((2, 7, 5)));
        assert_eq!(newest("2.x !=2.9.x"), Some((2, 8, 8)));
        assert_eq!(newest("2.10.x"), Some((2, 10, 0)));
        assert_eq!(newest("2.9.0-rc.1"), Some((2, 9, 0)));
        assert_eq!(newest("2.7.x || 2.9.x"), Some(newest_known()));
        assert_eq!(newest("newest"), None);
        assert_eq!(newest("2.8.x || newest"), None);
        let strict = Version::release(STRICT_SINCE.0, STRICT_SINCE.1, 0);
        for range in ["2.x", ">=2.5", "*"] {
            assert!(includes_release_before(range, &strict), "{range}");
        }
        assert!(!includes_release_before("2.9.x", &strict));
    }

    #[test]
    fn the_version_of_a_controller_determines_the_release() {
        let release = |controller: &str, version: &str| {
            let version = release_of(controller, &Version::parse(version)?)?;
            Some((version.major, version.minor))
        };
        assert_eq!(release("kustomize-controller", "1.9.4"), Some((2, 9)));
        assert_eq!(release("helm-controller", "0.37.4"), Some((2, 2)));
        assert_eq!(release("helm-controller", "1.0.1"), Some((2, 3)));
        assert_eq!(release("helm-controller", "1.6.3"), Some((2, 9)));
        assert_eq!(release("image-reflector-controller", "1.2.1"), Some((2, 9)));
        assert_eq!(release("source-controller", "0.36.1"), Some((0, 41)));
        assert_eq!(release("image-reflector-controller", "0.26.1"), None);
        assert_eq!(release("flux-operator", "1.9.0"), None);
    }
}
