//! Whether something that is referred to is on a cluster: received, made by somebody else, or not there.

use crate::flux::{Applied, Produced, installs};
use crate::lint::facts::namespace_sources::makes_namespace;
use crate::lint::view::View;

/// Whether something that is referred to is on a cluster.
#[derive(Debug)]
pub enum Presence<'a> {
    /// An applier brings it.
    Received(Applied<'a>),
    /// A ConfigMap or Secret that something on the cluster makes, as far as it is known.
    Made(Box<Produced>),
    /// It comes with Kubernetes or with Flux, or a release makes it for itself.
    Given,
    /// Something that is not known may bring it: who, in words.
    Unknown(String),
    /// Nothing brings it.
    Missing,
}

impl Presence<'_> {
    /// Whether nothing brings it.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }
}

impl<'a> View<'a> {
    /// Whether an object is on the cluster, of whatever version; cluster-scoped ones have the empty namespace.
    pub fn presence(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Presence<'a> {
        if [namespace, name].iter().any(|text| text.contains("${")) {
            return Presence::Unknown("its name is not known".into());
        }
        if let Some(applied) = self.find(group, kind, namespace, name) {
            return Presence::Received(applied);
        }
        if matches!((group, kind), ("", "ConfigMap" | "Secret")) {
            let known = |kind: &str, namespace: &str, name: &str| self.known(kind, namespace, name);
            if let Some(produced) = self.producers().find(kind, namespace, name, &known) {
                return Presence::Made(Box::new(produced));
            }
        }
        if is_given(group, kind, namespace, name) || self.is_from_flux(group, kind, namespace, name) {
            return Presence::Given;
        }
        if !self.is_whole() {
            return Presence::Unknown("the repository has no root".into());
        }
        self.makers().unknown(namespace).map_or(Presence::Missing, Presence::Unknown)
    }

    /// Whether a namespace is on the cluster. A chart may bring any, but few bring one that is not called after them.
    pub fn namespace(&self, name: &str) -> Presence<'a> {
        let presence = self.presence("", "Namespace", "", name);
        let is_open = matches!(presence, Presence::Missing | Presence::Unknown(_));
        if !is_open || !self.is_whole() || name.contains("${") {
            return presence;
        }
        if self.makers().creates(name) || makes_namespace(self, name) {
            return Presence::Given;
        }
        self.makers().namespace(name).map_or(Presence::Missing, Presence::Unknown)
    }

    /// Whether a namespace is there before anything is applied, or somewhere in between without being applied.
    pub(crate) fn gives_namespace(&self, name: &str) -> bool {
        let is_fluxs = self.receiver.target.is_none() && self.is_from_flux("", "Namespace", "", name);
        is_given("", "Namespace", "", name) || is_fluxs || self.makers().creates(name)
    }

    fn is_from_flux(&self, group: &str, kind: &str, namespace: &str, name: &str) -> bool {
        let homes = &self.context.tenancy.flux_namespaces;
        homes.iter().any(|home| installs(home, group, kind, namespace, name))
    }
}

/// Whether an object comes with Kubernetes.
fn is_given(group: &str, kind: &str, namespace: &str, name: &str) -> bool {
    match (group, kind) {
        ("", "Namespace") => matches!(name, "default" | "kube-system" | "kube-public" | "kube-node-lease"),
        // A controller makes it in every namespace.
        ("", "ServiceAccount") => name == "default" || namespace == "kube-system",
        ("", "ConfigMap") => name == "kube-root-ca.crt",
        _ => false,
    }
}
