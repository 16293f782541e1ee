//! Something that an object refers to.

use std::fmt;

use crate::kube::groups;
use crate::yaml::Node;

/// An object that another one refers to, of whatever version. Cluster-scoped ones have the empty namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Wanted<'a> {
    pub(crate) group: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
}

impl Wanted<'_> {
    /// Whether its identity is known: a variable may be left in it.
    pub(crate) fn is_known(&self) -> bool {
        ![self.kind, self.namespace, self.name].iter().any(|text| text.contains('$') || text.contains("{{"))
    }

    /// Whether it is one of Flux's kinds or its operator's.
    pub(crate) fn is_flux(&self) -> bool {
        groups::is_toolkit(self.group) || self.group == groups::FLUX_OPERATOR
    }
}

impl fmt::Display for Wanted<'_> {
    /// Writes it as messages name objects.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace {
            "" => write!(f, "{} `{}`", self.kind, self.name),
            namespace => write!(f, "{} `{namespace}/{}`", self.kind, self.name),
        }
    }
}

/// The text of a field, when it says something.
pub(crate) fn said<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    node.get(key).filter(|node| !node.is_null()).and_then(Node::text).filter(|text| !text.is_empty())
}
