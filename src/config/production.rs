//! Which clusters are production.

use super::glob::clusters;

/// The segments of names that say production.
const SAYS_SO: [&str; 4] = ["prod", "production", "prd", "live"];
/// The segments of names that turn the next one into its contrary, as in `non-prod`.
const DENIES: [&str; 5] = ["non", "not", "no", "pre", "un"];

/// Which clusters are production, as far as it is said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Production {
    /// Globs of their names; none when nothing is said.
    pub globs: Vec<String>,
}

impl Production {
    /// Tells whether a cluster is production: by the globs, else by what its name says.
    pub fn has(&self, cluster: &str) -> bool {
        if self.globs.is_empty() {
            return says_production(cluster);
        }
        clusters(&self.globs).is_match(cluster)
    }

    /// These, or those of `base` when nothing is said here.
    pub(super) fn over(self, base: Self) -> Self {
        if self.globs.is_empty() { base } else { self }
    }
}

fn says_production(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let segments: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    segments.iter().enumerate().any(|(at, segment)| {
        let before = at.checked_sub(1).and_then(|before| segments.get(before));
        SAYS_SO.contains(segment) && !before.is_some_and(|before| DENIES.contains(before))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_of_the_name_says_production_unless_globs_do() {
        let inferred = Production::default();
        for name in ["prod", "prod-eu", "eu_production", "clusters/live", "shop.PRD.eu", "prod/edge"] {
            assert!(inferred.has(name), "{name}");
        }
        for name in ["staging", "product", "non-prod", "pre-production", "alive", "nonprod", ""] {
            assert!(!inferred.has(name), "{name}");
        }
        let said = Production { globs: vec!["eu-*".into()] };
        assert!(said.has("eu-1") && said.has("eu-1/edge") && !said.has("prod"));
    }
}
