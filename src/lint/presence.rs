//! Whether something that is referred to is on a cluster: received, made by somebody else, or not there.

use std::collections::{BTreeMap, BTreeSet};

use super::View;
use crate::finding::ObjectRef;
use crate::flux::{Applied, Produced, State, installs};
use crate::kube::Object;

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

/// What brings objects that are not known: charts, and appliers that were not built.
#[derive(Debug, Default)]
pub(super) struct Makers<'a> {
    /// What may bring anything.
    anything: Option<String>,
    /// What may bring objects of a namespace.
    namespaces: BTreeMap<&'a str, String>,
    /// What may bring objects without namespace.
    cluster_scoped: Option<String>,
    /// Which of these is no chart: charts seldom bring a Namespace.
    appliers: Option<String>,
    /// The namespaces that releases make themselves.
    created: BTreeSet<&'a str>,
    /// The names of releases and charts, by which they often name Namespaces that they bring.
    charts: Vec<(&'a str, ObjectRef)>,
}

impl<'a> Makers<'a> {
    pub(super) fn of(view: &View<'a>) -> Self {
        let mut makers = Self::default();
        for applier in view.appliers() {
            let why = match &applier.state {
                State::Built => continue,
                State::Failed => format!("{} does not build", applier.reference),
                State::NotBuilt(why) => format!("{} is not built: {why}", applier.reference),
            };
            match applier.object.as_ref().and_then(|object| spec_text(object, "targetNamespace")) {
                // What has a namespace is put there; what has none stays what it is.
                Some(namespace) => {
                    makers.cluster_scoped.get_or_insert_with(|| why.clone());
                    makers.appliers.get_or_insert_with(|| why.clone());
                    makers.namespaces.entry(namespace).or_insert(why);
                }
                None => {
                    makers.anything.get_or_insert(why);
                }
            }
        }
        for applied in view.of_kind("helm.toolkit.fluxcd.io", "HelmRelease") {
            let release = applied.object;
            if release.node.at_keys(&["spec", "kubeConfig"]).is_some() {
                continue;
            }
            let reference = release.reference();
            let Some(namespace) = spec_text(release, "targetNamespace").or(applied.namespace()) else { continue };
            let creates = release.text_at(&["spec", "install", "createNamespace"]) == Some("true");
            if creates {
                makers.created.insert(namespace);
            }
            let chart = release.text_at(&["spec", "chart", "spec", "chart"]).map(|chart| chart.rsplit('/').next());
            let names = [Some(release.name()), chart.flatten(), release.text_at(&["spec", "chartRef", "name"])];
            makers.charts.extend(names.into_iter().flatten().map(|name| (name, reference.clone())));
            makers.namespaces.entry(namespace).or_insert_with(|| format!("the chart of {reference}"));
            makers.cluster_scoped.get_or_insert_with(|| format!("the chart of {reference}"));
        }
        makers
    }

    /// Who may bring an object that is not known, in words; the empty namespace is that of cluster-scoped ones.
    fn unknown(&self, namespace: &str) -> Option<&String> {
        let narrower = if namespace.is_empty() { self.cluster_scoped.as_ref() } else { self.namespaces.get(namespace) };
        self.anything.as_ref().or(narrower)
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
        match self.makers().unknown(namespace) {
            Some(who) => Presence::Unknown(who.clone()),
            None => Presence::Missing,
        }
    }

    /// Whether a namespace is on the cluster. A chart may bring any, but few bring one that is not called after them.
    pub fn namespace(&self, name: &str) -> Presence<'a> {
        let presence = self.presence("", "Namespace", "", name);
        let is_open = matches!(presence, Presence::Missing | Presence::Unknown(_));
        if !is_open || !self.is_whole() || name.contains("${") {
            return presence;
        }
        let makers = self.makers();
        if makers.created.contains(name) {
            return Presence::Given;
        }
        if let Some(who) = makers.anything.as_ref().or(makers.appliers.as_ref()) {
            return Presence::Unknown(who.clone());
        }
        let called_after = |chart: &str| name.starts_with(chart) || chart.starts_with(name);
        match makers.charts.iter().find(|(chart, _)| !chart.is_empty() && called_after(chart)) {
            Some((_, release)) => Presence::Unknown(format!("the chart of {release}")),
            None => Presence::Missing,
        }
    }

    /// Whether a namespace is there before anything is applied, or somewhere in between without being applied.
    pub(super) fn gives_namespace(&self, name: &str) -> bool {
        let is_fluxs = self.receiver.target.is_none() && self.is_from_flux("", "Namespace", "", name);
        is_given("", "Namespace", "", name) || is_fluxs || self.makers().created.contains(name)
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

fn spec_text<'a>(object: &'a Object, field: &str) -> Option<&'a str> {
    object.text_at(&["spec", field]).filter(|text| !text.is_empty() && !text.contains('$'))
}
