//! The version of Flux on a cluster, as far as it affects builds.

use crate::flux::settings::Settings;
use crate::kube::Object;
use crate::yaml::Node;

/// The newest known release of Flux.
const NEWEST: (u64, u64, u64) = (2, 9, 4);
/// The first release that refuses undefined variables by default.
const STRICT_SINCE: (u64, u64, u64) = (2, 9, 0);
/// The feature gate of kustomize-controller for undefined variables.
const GATE: &str = "StrictPostBuildSubstitutions";

/// The newest release in a version or a range of versions, such as `2.9.4`, `v2.9`, `2.x` or `>=2.7 <2.9`.
fn newest(range: &str) -> Option<(u64, u64, u64)> {
    let alternatives = range.split("||").filter_map(|all| {
        let parts = joined(all);
        let bounds = parts.split([' ', ',']).filter(|one| !one.is_empty()).map(VersionRange::parse);
        let bounds: Vec<VersionRange> = bounds.collect::<Option<_>>()?;
        let known = candidates().find(|version| bounds.iter().all(|bounds| bounds.allow(*version)));
        // The range may be of a release that is newer than this program.
        known.or_else(|| bounds.iter().map(|bounds| bounds.from).max().filter(|from| *from > NEWEST))
    });
    alternatives.max()
}

/// Whether a range contains releases that accept undefined variables.
fn includes_lenient_release(range: &str) -> bool {
    let older = candidates().filter(|version| *version < STRICT_SINCE);
    let mut older = older.map(|version| format!("={}.{}.{}", version.0, version.1, version.2));
    older.any(|version| range.split("||").any(|all| newest(&format!("{all} {version}")).is_some()))
}

/// Whether a FluxInstance installs manifests from a pinned artifact.
fn is_pinned(instance: &Object) -> bool {
    let artifact = instance.text_at(&["spec", "distribution", "artifact"]).unwrap_or_default();
    let name = artifact.rsplit('/').next().unwrap_or_default();
    name.contains('@') || name.split_once(':').is_some_and(|(_, tag)| tag != "latest")
}

/// The known releases, newest first. No minor release has ten patch releases.
fn candidates() -> impl Iterator<Item = (u64, u64, u64)> {
    let minors = (0..=NEWEST.1).rev();
    let all = minors.flat_map(|minor| (0..10).rev().map(move |patch| (NEWEST.0, minor, patch)));
    all.filter(|version| *version <= NEWEST)
}

/// Joins operators and versions that are separated by blanks.
fn joined(text: &str) -> String {
    let mut out = String::new();
    for part in text.split_whitespace() {
        if !out.is_empty() && !out.ends_with(['<', '>', '=', '~', '^', '!', ',']) {
            out.push(' ');
        }
        out.push_str(part);
    }
    out
}

/// A range of versions: inclusive start, exclusive end.
struct VersionRange {
    from: (u64, u64, u64),
    below: (u64, u64, u64),
}

impl VersionRange {
    fn parse(text: &str) -> Option<Self> {
        let digits = text.find(|c: char| !matches!(c, '<' | '>' | '=' | '~' | '^' | '!')).unwrap_or(text.len());
        let (operator, version) = (text.get(..digits)?, text.get(digits..)?);
        let version = version.trim_start_matches(['v', 'V']);
        let version = version.split(['-', '+']).next().unwrap_or(version);
        let numbers: Vec<Option<u64>> = version.split('.').map(|part| part.parse().ok()).collect();
        let wild = numbers.iter().position(Option::is_none).unwrap_or(numbers.len());
        if numbers.len() > 3 || !version.split('.').skip(wild).all(|part| matches!(part, "x" | "X" | "*" | "")) {
            return None;
        }
        let number = |index: usize| numbers.get(index).copied().flatten().unwrap_or(0);
        let from = (number(0), number(1), number(2));
        let after = match wild.min(numbers.len()) {
            0 => (u64::MAX, 0, 0),
            1 => (from.0 + 1, 0, 0),
            2 => (from.0, from.1 + 1, 0),
            _ => (from.0, from.1, from.2 + 1),
        };
        let (lowest, highest) = ((0, 0, 0), (u64::MAX, 0, 0));
        let (from, below) = match operator {
            "" | "=" | "==" => (from, after),
            "^" => (from, (from.0 + 1, 0, 0)),
            "~" | "~>" => (from, if wild == 1 { after } else { (from.0, from.1 + 1, 0) }),
            ">=" | "=>" => (from, highest),
            ">" => (after, highest),
            "<" => (lowest, from),
            "<=" | "=<" => (lowest, after),
            _ => return None,
        };
        Some(Self { from, below })
    }

    fn allow(&self, version: (u64, u64, u64)) -> bool {
        self.from <= version && version < self.below
    }
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
    /// Whether builds assume that undefined variables fail.
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
            Some(version) if version < STRICT_SINCE => Self::Lenient,
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

/// Whether an object is the Deployment of kustomize-controller.
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
        assert_eq!(newest("2.x"), Some(NEWEST));
        assert_eq!(newest("*"), Some(NEWEST));
        assert_eq!(newest("v2.7"), Some((2, 7, 9)));
        assert_eq!(newest("2.8.x"), Some((2, 8, 9)));
        assert_eq!(newest("= 2.9.1"), Some((2, 9, 1)));
        assert_eq!(newest("~2.8.0"), Some((2, 8, 9)));
        assert_eq!(newest("^2.3"), Some(NEWEST));
        assert_eq!(newest(">=2.5.0 <2.9.0"), Some((2, 8, 9)));
        assert_eq!(newest(">= 2.5, < 2.8"), Some((2, 7, 9)));
        assert_eq!(newest("2.10.x"), Some((2, 10, 0)));
        assert_eq!(newest("2.7.x || 2.9.x"), Some(NEWEST));
        assert_eq!(newest("newest"), None);
        assert!(
            includes_lenient_release("2.x")
                && includes_lenient_release(">=2.5")
                && includes_lenient_release("*")
                && !includes_lenient_release("2.9.x")
        );
    }
}
