//! Something that an object refers to.

use std::fmt;

use crate::yaml::Node;

/// The group of Flux's sources.
pub(super) const SOURCES: &str = "source.toolkit.fluxcd.io";
/// The group of Flux's Kustomizations.
pub(super) const KUSTOMIZE: &str = "kustomize.toolkit.fluxcd.io";
/// The group of `HelmRelease`s.
pub(super) const HELM: &str = "helm.toolkit.fluxcd.io";
/// The group of Flux Operator's kinds.
pub(super) const OPERATOR: &str = "fluxcd.controlplane.io";

/// An object that another one refers to, of whatever version. Cluster-scoped ones have the empty namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Wanted<'a> {
    pub(super) group: &'a str,
    pub(super) kind: &'a str,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
}

impl Wanted<'_> {
    /// Whether its identity is known: a variable may be left in it.
    pub(super) fn is_known(&self) -> bool {
        ![self.kind, self.namespace, self.name].iter().any(|text| text.contains('$') || text.contains("{{"))
    }

    /// Whether it is one of Flux's kinds or its operator's.
    pub(super) fn is_flux(&self) -> bool {
        self.group.ends_with(".toolkit.fluxcd.io") || self.group == OPERATOR
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
pub(super) fn said<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    node.get(key).filter(|node| !node.is_null()).and_then(Node::text).filter(|text| !text.is_empty())
}
