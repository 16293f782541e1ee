//! The reasons why an applier is not built, other than a failed build.

use std::cmp::Ordering;
use std::fmt;

use arcstr::ArcStr;

/// The reason why an applier is not built, other than a failed build. Reasons are ordered by their text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NotBuiltReason {
    /// The artifact of the source has no known copy. The value is the URL, with `#` and the reference if the source has
    /// a reference.
    NoCopy(ArcStr),
    /// The cluster does not receive the source. The value is the `Kind/namespace/name` of the source, or `its source`.
    MissingSource(ArcStr),
    /// The inputs of the applier's dependencies change with every build.
    Unstable,
    /// The content depends on unsupported data, or on data that exists only on the cluster. The value is the reason.
    Unknown(ArcStr),
}

impl fmt::Display for NotBuiltReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCopy(url) => write!(f, "no copy of `{url}`"),
            Self::MissingSource(source) => write!(f, "the cluster does not receive {source}"),
            Self::Unstable => f.write_str("its dependencies have no fixed point"),
            Self::Unknown(reason) => f.write_str(reason),
        }
    }
}

impl PartialOrd for NotBuiltReason {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for NotBuiltReason {
    fn cmp(&self, other: &Self) -> Ordering {
        self.to_string().cmp(&other.to_string())
    }
}
