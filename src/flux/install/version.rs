//! The version of Flux on a cluster, as far as it affects builds.

use crate::flux::settings::Settings;
use crate::kube::Object;
use crate::kube::semver_range::Range;
use crate::kube::version::Version;
use crate::yaml::Node;

/// The newest known release of Flux.
const NEWEST: (u64, u64, u64) = (2, 9, 4);
/// The first release that refuses undefined variables by default.
const STRICT_SINCE: (u64, u64, u64) = (2, 9, 0);
/// The feature gate of kustomize-controller for undefined variables.
const GATE: &str = "StrictPostBuildSubstitutions";

/// The newest release in a version or a range of versions: `2.9.4`, `v2.9`, `2.x`, `>=2.7 <2.9`.
fn newest(text: &str) -> Option<Version> {
    let range = Range::parse(text)?;
    let known = releases().find(|version| range.contains(version));
    // Otherwise it may be a release that is newer than this program, or a prerelease.
    known.or_else(|| range.bounds().filter(|version| range.contains(version)).max().cloned())
}

/// Returns whether a range contains releases that accept undefined variables.
fn includes_lenient_release(text: &str) -> bool {
    let strict = Version::release(STRICT_SINCE.0, STRICT_SINCE.1, STRICT_SINCE.2);
    Range::parse(text).is_some_and(|range| releases().any(|version| version < strict && range.contains(&version)))
}

/// Returns whether a FluxInstance installs manifests from a pinned artifact.
fn is_pinned(instance: &Object) -> bool {
    let artifact = instance.text_at(&["spec", "distribution", "artifact"]).unwrap_or_default();
    let name = artifact.rsplit('/').next().unwrap_or_default();
    name.contains('@') || name.split_once(':').is_some_and(|(_, tag)| tag != "latest")
}

/// The known releases, newest first. No minor release has ten patch releases.
fn releases() -> impl Iterator<Item = Version> {
    let minors = (0..=NEWEST.1).rev();
    let all = minors.flat_map(|minor| (0..10).rev().map(move |patch| (NEWEST.0, minor, patch)));
    all.filter(|numbers| *numbers <= NEWEST).map(|(major, minor, patch)| Version::release(major, minor, patch))
}

/// Whether an undefined variable fails a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strictness {
    /// An undefined variable fails the build.
    Strict,
    /// An undefined variable counts as empty.
    Lenient,
    /// The version of Flux is unknown; the newest one is strict.
    #[default]
    Assumed,
}

impl Strictness {
    /// Returns whether builds assume that undefined variables fail.
    pub fn is_strict(self) -> bool {
        self != Self::Lenient
    }

    /// Detects the strictness from the arguments of kustomize-controller, or from the version. `controllers` are the
    /// Deployments of kustomize-controller, of which the last one counts; `instances` are the `FluxInstance`s.
    pub(crate) fn detect(cluster: &str, controllers: &[&Object], instances: &[&Object], settings: &Settings) -> Self {
        let gate = controllers.iter().filter_map(|object| gate(object)).next_back();
        if let Some(on) = gate {
            return if on { Self::Strict } else { Self::Lenient };
        }
        let forced = settings.flux_version.as_deref();
        let configured = settings.config.clusters.get(cluster).and_then(|cluster| cluster.flux_version.as_ref());
        let configured = configured.map(|version| version.0.as_str());
        let instance = || instances.iter().find_map(|instance| instance.text_at(&["spec", "distribution", "version"]));
        let label = || controllers.iter().find_map(|object| object.label("app.kubernetes.io/version"));
        let version = forced.or(configured).or_else(instance).or_else(label);
        let version = version.or_else(|| settings.config.flux_version(cluster));
        let is_of_instance = version.is_some() && version == instance() && forced.or(configured).is_none();
        match version.and_then(newest) {
            Some(version) if (version.major, version.minor, version.patch) < STRICT_SINCE => Self::Lenient,
            // A pinned artifact contains the release of its date.
            Some(_)
                if is_of_instance
                    && instances.iter().any(|one| is_pinned(one))
                    && version.is_some_and(includes_lenient_release) =>
            {
                Self::Assumed
            }
            Some(_) => Self::Strict,
            None => Self::Assumed,
        }
    }
}

/// Returns whether an object is the Deployment of kustomize-controller.
pub(crate) fn is_controller(object: &Object) -> bool {
    object.is("apps", "Deployment") && object.name() == "kustomize-controller"
}

/// The feature gate in the arguments of a controller; the last one counts.
fn gate(deployment: &Object) -> Option<bool> {
    let containers = deployment.node.at_keys(&["spec", "template", "spec", "containers"]).map_or(&[][..], Node::items);
    let arguments = containers.iter().flat_map(|one| one.get("args").map_or(&[][..], Node::items));
    let arguments: Vec<&str> = arguments.filter_map(Node::text).collect();
    // The value may be a separate argument.
    let after = |at: usize| arguments.get(at + 1).copied().filter(|_| arguments[at] == "--feature-gates");
    let gates =
        arguments.iter().enumerate().filter_map(|(at, text)| text.strip_prefix("--feature-gates=").or(after(at)));
    let values = gates.flat_map(|gates| gates.split(',')).filter_map(|one| one.split_once('='));
    values.filter(|(name, _)| name.trim() == GATE).filter_map(|(_, value)| value.trim().parse().ok()).next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_selects_its_newest_release() {
        let newest = |text: &str| newest(text).map(|version| (version.major, version.minor, version.patch));
        assert_eq!(newest("2.x"), Some(NEWEST));
        assert_eq!(newest("*"), Some(NEWEST));
        assert_eq!(newest("~*"), Some(NEWEST));
        assert_eq!(newest("v2.7"), Some((2, 7, 9)));
        assert_eq!(newest("2.8.x"), Some((2, 8, 9)));
        assert_eq!(newest("2.8.12"), Some((2, 8, 12)));
        assert_eq!(newest("= 2.9.1"), Some((2, 9, 1)));
        assert_eq!(newest("~2.8.0"), Some((2, 8, 9)));
        assert_eq!(newest("^2.3"), Some(NEWEST));
        assert_eq!(newest(">=2.5.0 <2.9.0"), Some((2, 8, 9)));
        assert_eq!(newest(">= 2.5, < 2.8"), Some((2, 7, 9)));
        assert_eq!(newest("2.5 - 2.7"), Some((2, 7, 9)));
        assert_eq!(newest("2.x !=2.9.x"), Some((2, 8, 9)));
        assert_eq!(newest("2.10.x"), Some((2, 10, 0)));
        assert_eq!(newest("2.9.0-rc.1"), Some((2, 9, 0)));
        assert_eq!(newest("2.7.x || 2.9.x"), Some(NEWEST));
        assert_eq!(newest("newest"), None);
        assert_eq!(newest("2.8.x || newest"), None);
        assert!(
            includes_lenient_release("2.x")
                && includes_lenient_release(">=2.5")
                && includes_lenient_release("*")
                && !includes_lenient_release("2.9.x")
        );
    }
}
