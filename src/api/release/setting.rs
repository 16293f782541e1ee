//! The flags and feature gates of Flux's controllers, with the defaults of each release.

use serde::Deserialize;

use super::version_text::version;
use crate::kube::version::Version;

/// A flag or a feature gate of a controller.
#[derive(Debug, Deserialize)]
pub struct Setting {
    /// The controller.
    pub controller: String,
    /// The name, without `--`.
    pub name: String,
    /// The states of the setting, each with its first release, oldest first.
    history: Vec<State>,
}

/// The state of a setting since a release; `None` if the controller does not know it.
#[derive(Debug, Deserialize)]
struct State(#[serde(deserialize_with = "version")] Version, Option<Known>);

/// A setting that a controller knows.
#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Known {
    /// The default; `None` if it is computed.
    default: Option<String>,
}

/// A change of a setting between two releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change<'a> {
    /// The later release does not know the setting since a release.
    Removed(&'a Version),
    /// The default differs since a release.
    Default {
        /// The default of the earlier release.
        from: &'a str,
        /// The default of the later release.
        to: &'a str,
        /// The first release with this default.
        since: &'a Version,
    },
}

impl Setting {
    /// The change between two releases.
    pub fn change(&self, from: &Version, to: &Version) -> Option<Change<'_>> {
        let (_, before) = self.at(from)?;
        let before = before?;
        match self.at(to)? {
            (since, None) => Some(Change::Removed(since)),
            (since, Some(after)) => {
                let (from, to) = (before.default.as_deref()?, after.default.as_deref()?);
                (from != to).then_some(Change::Default { from, to, since })
            }
        }
    }

    fn at(&self, release: &Version) -> Option<(&Version, Option<&Known>)> {
        let state = self.history.iter().rev().find(|State(since, _)| since <= release)?;
        Some((&state.0, state.1.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::release::gates;

    #[test]
    fn a_gate_changes_its_default() {
        let strict = gates().iter().find(|gate| gate.name == "StrictPostBuildSubstitutions").unwrap();
        let change = strict.change(&Version::release(2, 8, 0), &Version::release(2, 9, 0));
        let since = Version::release(2, 9, 0);
        assert_eq!(change, Some(Change::Default { from: "false", to: "true", since: &since }));
        assert_eq!(strict.change(&Version::release(2, 0, 0), &Version::release(2, 1, 0)), None);
    }
}
