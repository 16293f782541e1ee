//! The features that a build omits.

use std::collections::BTreeMap;
use std::fmt;

/// A feature that a build omits, because its input is remote, encrypted or needs another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Omission {
    /// A component at a URL without a copy.
    RemoteComponent,
    /// A transformer configuration at a URL without a copy.
    RemoteConfiguration,
    /// An encrypted env file of a format whose lines are unknown.
    EncryptedEnvFile,
    /// A file of a generator at a URL without a copy.
    RemoteFile,
    /// The Helm charts of the deprecated field `helmChartInflationGenerator`.
    HelmChartInflationGenerator,
    /// The Helm charts of `helmCharts` or of a generator.
    HelmCharts,
    /// The field `helmGlobals`.
    HelmGlobals,
    /// A patch that selects its object by encrypted values.
    EncryptedPatch,
    /// A resource at a URL without a copy.
    RemoteResource,
}

/// Omissions with their counts.
pub type Omissions = BTreeMap<Omission, usize>;

impl fmt::Display for Omission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RemoteComponent => "components: <url>",
            Self::RemoteConfiguration => "configurations: <url>",
            Self::EncryptedEnvFile => "envs: <encrypted>",
            Self::RemoteFile => "files: <url>",
            Self::HelmChartInflationGenerator => "helmChartInflationGenerator",
            Self::HelmCharts => "helmCharts",
            Self::HelmGlobals => "helmGlobals",
            Self::EncryptedPatch => "patches: <encrypted>",
            Self::RemoteResource => "resources: <url>",
        })
    }
}

/// The counts by the names that users see.
pub fn omissions_by_name(omissions: &Omissions) -> BTreeMap<String, usize> {
    omissions.iter().map(|(omission, count)| (omission.to_string(), *count)).collect()
}
