//! What brings objects to a cluster that are not known: charts, and appliers that were not built.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::artifacts::may_be_made;
use crate::base::finding::ObjectRef;
use crate::flux::{Applier, State};
use crate::kube::Object;
use crate::kube::groups;
use crate::lint::view::View;

/// What brings objects that are not known: charts, and appliers that were not built.
#[derive(Debug, Default)]
pub(crate) struct Makers<'a> {
    /// What may bring anything.
    anything: Option<&'a Arc<Applier>>,
    /// What may bring objects of a namespace.
    namespaces: BTreeMap<&'a str, &'a Arc<Applier>>,
    /// What may bring objects without namespace.
    cluster_scoped: Option<&'a Arc<Applier>>,
    /// The releases whose charts bring objects to a namespace.
    releases: BTreeMap<&'a str, Vec<&'a Object>>,
    /// The namespaces that releases make themselves.
    created: BTreeSet<&'a str>,
}

impl<'a> Makers<'a> {
    pub(crate) fn of(view: &View<'a>) -> Self {
        let mut makers = Self::default();
        for applied in view.of_kind(groups::HELM, "HelmRelease") {
            let release = applied.object;
            if release.node.at_keys(&["spec", "kubeConfig"]).is_some() {
                continue;
            }
            let Some(namespace) = spec_text(release, "targetNamespace").or(applied.namespace()) else { continue };
            let creates = release.text_at(&["spec", "install", "createNamespace"]) == Some("true");
            // Before its own namespace is there, the release is not either.
            if creates && Some(namespace) != applied.namespace() {
                makers.created.insert(namespace);
            }
            makers.releases.entry(namespace).or_default().push(release);
        }
        let mut sourceless = Vec::new();
        for applier in view.appliers() {
            // What is built from a source that is not there brings nothing.
            let lacks_source = || applier.source.as_ref().is_some_and(|source| lacks(view, source));
            match &applier.state {
                _ if applier.is_known => {}
                State::NotBuilt(_) if lacks_source() => sourceless.push(applier),
                State::Built | State::Failed | State::NotBuilt(_) => makers.take(applier),
            }
        }
        for applier in sourceless {
            let namespace = applier.source.as_ref().and_then(|source| source.namespace.as_deref()).unwrap_or_default();
            if makers.unknown(namespace).is_some() {
                makers.take(applier);
            }
        }
        makers
    }

    fn take(&mut self, applier: &'a Arc<Applier>) {
        match applier.object.as_ref().and_then(|object| spec_text(object, "targetNamespace")) {
            // What has a namespace is put there; what has none stays what it is.
            Some(namespace) => {
                self.cluster_scoped.get_or_insert(applier);
                self.namespaces.entry(namespace).or_insert(applier);
            }
            None => {
                self.anything.get_or_insert(applier);
            }
        }
    }

    /// The releases whose charts alone may bring an object of a namespace; `None` when others may.
    pub(crate) fn only_releases(&self, namespace: &str) -> Option<&[&'a Object]> {
        if self.anything.is_some() || self.namespaces.contains_key(namespace) {
            return None;
        }
        Some(self.releases.get(namespace).map_or(&[], Vec::as_slice))
    }

    /// Whether a release makes a namespace for itself.
    pub(crate) fn creates(&self, namespace: &str) -> bool {
        self.created.contains(namespace)
    }

    /// Whether anything beside charts may bring a Namespace that is not known.
    pub(crate) fn may_bring_namespaces(&self) -> bool {
        self.anything.or(self.cluster_scoped).is_some()
    }

    /// Who may bring an object that is not known, in words; the empty namespace is that of cluster-scoped ones.
    pub(crate) fn unknown(&self, namespace: &str) -> Option<String> {
        let (applier, release) = match namespace {
            "" => (self.cluster_scoped, self.releases.values().next()),
            _ => (self.namespaces.get(namespace).copied(), self.releases.get(namespace)),
        };
        let release = release.and_then(|releases| releases.first());
        self.anything.or(applier).map(unbuilt).or_else(|| release.map(|release| chart_of(release)))
    }

    /// Who may bring a Namespace that is not known, in words.
    pub(crate) fn namespace(&self, name: &str) -> Option<String> {
        let called_after = |chart: &str| !chart.is_empty() && (name.starts_with(chart) || chart.starts_with(name));
        let is_named_so = |release: &&&Object| {
            // What stands in it is not even applied before.
            if release.namespace() == Some(name) {
                return false;
            }
            let chart = release.text_at(&["spec", "chart", "spec", "chart"]).and_then(|chart| chart.rsplit('/').next());
            let names = [Some(release.name()), chart, release.text_at(&["spec", "chartRef", "name"])];
            names.into_iter().flatten().any(called_after)
        };
        let release = || self.releases.values().flatten().find(is_named_so);
        self.anything.or(self.cluster_scoped).map(unbuilt).or_else(|| release().map(|release| chart_of(release)))
    }
}

fn unbuilt(applier: &Arc<Applier>) -> String {
    match &applier.state {
        State::NotBuilt(why) => format!("{} is not built: {why}", applier.reference),
        State::Built | State::Failed => format!("{} does not build", applier.reference),
    }
}

fn chart_of(release: &Object) -> String {
    format!("the chart of {}", release.reference())
}

/// Tells whether nothing brings a source that an applier names.
fn lacks(view: &View<'_>, source: &ObjectRef) -> bool {
    let namespace = source.namespace.as_deref().unwrap_or_default();
    let is_made = &*source.kind == "ExternalArtifact" && may_be_made(view, namespace, &source.name);
    !is_made && view.find(source.group(), &source.kind, namespace, &source.name).is_none()
}

fn spec_text<'a>(object: &'a Object, field: &str) -> Option<&'a str> {
    object.text_at(&["spec", field]).filter(|text| !text.is_empty() && !text.contains('$'))
}
