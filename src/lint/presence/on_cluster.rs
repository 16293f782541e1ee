//! The presence of an object on a cluster.

use crate::flux::{Applied, Applier, Produced, installs};
use crate::kube::{ObjectId, groups};
use crate::lint::facts::unknown_sources::{Producer, UnknownSource};
use crate::lint::view::View;

/// The answer to the question whether an object exists on a cluster.
#[derive(Debug)]
pub enum Presence<'a> {
    /// An applier applies the object.
    Received(Applied<'a>),
    /// A controller on the cluster creates this ConfigMap or Secret. Its contents may be partly unknown.
    Produced(Box<Produced>),
    /// Kubernetes, Flux, a chart, a release or an object of the cluster certainly creates the object.
    BuiltIn,
    /// A source with unknown contents may contain the object.
    Unknown(UnknownSource),
    /// The cluster does not have the object.
    Missing,
}

impl Presence<'_> {
    /// Returns whether the cluster does not have the object.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }
}

impl<'a> View<'a> {
    /// Returns whether an object exists on the cluster, in any version.
    ///
    /// Cluster-scoped objects have the empty namespace.
    pub fn presence(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Presence<'a> {
        if [namespace, name].iter().any(|text| text.contains("${")) {
            return Presence::Unknown(UnknownSource::VariableInName);
        }
        if let Some(applied) = self.find(group, kind, namespace, name) {
            return Presence::Received(applied);
        }
        if matches!((group, kind), ("", "ConfigMap" | "Secret")) {
            let known = |kind: &str, namespace: &str, name: &str| self.config_object(kind, namespace, name);
            if let Some(produced) = self.producers().find(kind, namespace, name, &known) {
                return Presence::Produced(Box::new(produced));
            }
        }
        let id = ObjectId { group, kind, namespace, name };
        if self.with_open_names(group, kind).iter().any(|own| may_be_named(*own, id)) {
            return Presence::Unknown(UnknownSource::VariableInName);
        }
        if is_built_in(group, kind, namespace, name) || self.is_installed_with_flux(group, kind, namespace, name) {
            return Presence::BuiltIn;
        }
        if !self.is_whole() {
            return Presence::Unknown(UnknownSource::NoRoot);
        }
        let sources = self.unknown_sources();
        if sources.certainly_creates(id) {
            return Presence::BuiltIn;
        }
        if let Some(creator) = self.creator(id) {
            return Presence::Unknown(UnknownSource::Controller(creator.object.reference()));
        }
        if let Some(program) = self.program(group, kind, name) {
            return Presence::Unknown(program);
        }
        match sources.of(id).find(|producer| !self.is_denied(producer, id)) {
            Some(producer) => Presence::Unknown(producer.source.clone()),
            None if self.is_of_other_repository(namespace) => Presence::Unknown(UnknownSource::OtherRepository),
            None => Presence::Missing,
        }
    }

    /// Returns whether only another repository can create objects in a namespace: this repository has no object in the
    /// namespace, and another one bootstraps the cluster.
    fn is_of_other_repository(&self, namespace: &str) -> bool {
        self.receiver.cluster.evidence.lacks_bootstrap
            && !namespace.is_empty()
            && self.find("", "Namespace", "", namespace).is_none()
            && !self.namespaces().any(|(used, _)| **used == *namespace)
    }

    /// Returns whether a user may have created a Kustomization by hand: no file contains the root of the cluster, and its
    /// source does not have the name of the namespace. `flux bootstrap` gives the source and the Kustomization this name,
    /// so the name of the root is unknown here.
    pub(crate) fn may_be_by_hand(&self, wanted: ObjectId<'_>) -> bool {
        let cluster = self.receiver.cluster;
        let is_like_root = |applier: &Applier| {
            let reference = &applier.reference;
            let namespace = reference.namespace.as_deref().unwrap_or_default();
            let is_of_bootstrap = applier.source.as_ref().is_none_or(|source| &*source.name == namespace);
            (&*reference.kind, namespace) == (wanted.kind, wanted.namespace) && !is_of_bootstrap
        };
        wanted.group == groups::KUSTOMIZE
            && cluster.appliers.iter().any(|applier| cluster.is_generated(applier) && is_like_root(applier))
    }

    /// Returns a program of the repository that may create an object.
    fn program(&self, group: &str, kind: &str, name: &str) -> Option<UnknownSource> {
        let path = self.before_flux.programs.creator(group, kind, name)?;
        Some(UnknownSource::Program(path.into()))
    }

    /// Returns whether a namespace exists on the cluster.
    ///
    /// Any chart may contain a Namespace. This function considers only charts and releases with a similar name.
    pub fn namespace(&self, name: &str) -> Presence<'a> {
        let presence = self.presence("", "Namespace", "", name);
        let is_open = matches!(presence, Presence::Missing | Presence::Unknown(_));
        if !is_open || !self.is_whole() || name.contains("${") {
            return presence;
        }
        if self.unknown_sources().creates(name)
            || self.requested_namespaces().contains(name)
            || self.custom_resources().requests(name)
        {
            return Presence::BuiltIn;
        }
        let source = self.program("", "Namespace", name);
        let id = ObjectId { group: "", kind: "Namespace", namespace: "", name };
        // Nor can an applier create its own namespace. A platform may create the namespaces in which it configures Flux.
        let is_bootstrapped = !self.receiver.cluster.evidence.lacks_bootstrap;
        let is_denied =
            |producer: &Producer<'_>| is_bootstrapped && producer.home == name || self.is_denied(producer, id);
        let source = source.or_else(|| self.unknown_sources().of_namespace_object(name, is_denied));
        source.map_or(Presence::Missing, Presence::Unknown)
    }

    /// Returns whether a namespace exists without an applier: Kubernetes, Flux or a release creates it.
    pub(crate) fn has_namespace_without_applier(&self, name: &str) -> bool {
        let is_of_flux = self.receiver.target.is_none() && self.is_installed_with_flux("", "Namespace", "", name);
        is_built_in("", "Namespace", "", name) || is_of_flux || self.unknown_sources().creates(name)
    }

    fn is_installed_with_flux(&self, group: &str, kind: &str, namespace: &str, name: &str) -> bool {
        let homes = &self.context.tenancy.flux_namespaces;
        homes.iter().any(|home| installs(home, group, kind, namespace, name))
    }
}

/// Returns whether an object with variables in its identity may have another identity.
fn may_be_named(own: ObjectId<'_>, wanted: ObjectId<'_>) -> bool {
    let fits = |own: &str, wanted: &str| {
        let Some((start, rest)) = own.split_once("${") else { return own == wanted };
        let end = rest.rsplit_once('}').map_or("", |(_, end)| end);
        wanted.len() >= start.len() + end.len() && wanted.starts_with(start) && wanted.ends_with(end)
    };
    own.kind == wanted.kind && fits(own.name, wanted.name) && fits(own.namespace, wanted.namespace)
}

/// Returns whether Kubernetes creates an object, or whether `OpenShift` or Istio creates it in every namespace.
fn is_built_in(group: &str, kind: &str, namespace: &str, name: &str) -> bool {
    match (group, kind) {
        ("", "Namespace") => matches!(name, "default" | "kube-system" | "kube-public" | "kube-node-lease"),
        // Kube-controller-manager creates the service account `default` in every namespace, and its own service
        // accounts.
        ("", "ServiceAccount") => name == "default" || namespace == "kube-system",
        ("", "ConfigMap") => matches!(name, "kube-root-ca.crt" | "openshift-service-ca.crt" | "istio-ca-root-cert"),
        _ => false,
    }
}
