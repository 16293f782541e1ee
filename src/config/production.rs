//! The production clusters.

use super::glob::clusters;

/// The name segments of production clusters.
const PRODUCTION: [&str; 4] = ["prod", "production", "prd", "live"];
/// The name segments that negate the next segment, as in `non-prod`.
const NEGATIONS: [&str; 5] = ["non", "not", "no", "pre", "un"];

/// The name segments of other environments.
const OTHERS: [&str; 14] = [
    "dev",
    "develop",
    "development",
    "lab",
    "nonprod",
    "preprod",
    "preview",
    "qa",
    "sandbox",
    "stage",
    "staging",
    "stg",
    "test",
    "uat",
];

/// Returns whether the last directory of a path that names an environment names one other than production.
pub fn is_of_other_environment(path: &str) -> bool {
    let environment = |name: &str| {
        let is_other = name
            .to_ascii_lowercase()
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|segment| OTHERS.contains(&segment));
        if has_production_segment(name) { Some(false) } else { is_other.then_some(true) }
    };
    path.rsplit('/').find_map(environment).unwrap_or(false)
}

/// The configured production clusters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Production {
    /// Globs of the names; empty if not configured.
    pub globs: Vec<String>,
}

impl Production {
    /// Returns whether a cluster is a production cluster, by the globs, or by its name if no glob is configured.
    pub fn has(&self, cluster: &str) -> bool {
        if self.globs.is_empty() {
            return has_production_segment(cluster);
        }
        clusters(&self.globs).is_match(cluster)
    }

    /// Returns these globs, or the globs of `base` if these are empty.
    pub(super) fn over(self, base: Self) -> Self {
        if self.globs.is_empty() { base } else { self }
    }
}

fn has_production_segment(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let segments: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    segments.iter().enumerate().any(|(at, segment)| {
        let before = at.checked_sub(1).and_then(|before| segments.get(before));
        PRODUCTION.contains(segment) && !before.is_some_and(|before| NEGATIONS.contains(before))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_segment_marks_production_without_globs() {
        let inferred = Production::default();
        for name in ["prod", "prod-eu", "eu_production", "clusters/live", "shop.PRD.eu", "prod/edge"] {
            assert!(inferred.has(name), "{name}");
        }
        for path in ["apps/staging", "./staging", "apps/dev/shop", "deployments/shop--test", "prod/staging"] {
            assert!(is_of_other_environment(path), "{path}");
        }
        for path in ["", "apps", "apps/production", "staging/prod", "clusters/devices", "testing-prod"] {
            assert!(!is_of_other_environment(path), "{path}");
        }
        for name in ["staging", "product", "non-prod", "pre-production", "alive", "nonprod", ""] {
            assert!(!inferred.has(name), "{name}");
        }
        let configured = Production { globs: vec!["eu-*".into()] };
        assert!(configured.has("eu-1") && configured.has("eu-1/edge") && !configured.has("prod"));
    }
}
