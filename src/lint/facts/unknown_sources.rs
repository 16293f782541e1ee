//! The sources of objects with unknown contents: charts, and appliers that are not built.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::base::finding::ObjectRef;
use crate::flux::{Applied, Applier, NotBuiltReason, State};
use crate::kube::Object;

/// The reason why it is unknown whether a cluster has an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnknownSource {
    /// The name or namespace contains a variable.
    VariableInName,
    /// The repository has no root, so that other appliers may exist.
    NoRoot,
    /// An applier is not built, for a reason that is not a fault.
    NotBuilt(ObjectRef, NotBuiltReason),
    /// The build of an applier fails.
    FailedBuild(ObjectRef),
    /// The chart of a release may contain the object.
    Chart(ObjectRef),
}

impl fmt::Display for UnknownSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::VariableInName => f.write_str("its name is not known"),
            Self::NoRoot => f.write_str("the repository has no root"),
            Self::NotBuilt(applier, reason) => write!(f, "{applier} is not built: {reason}"),
            Self::FailedBuild(applier) => write!(f, "{applier} does not build"),
            Self::Chart(release) => write!(f, "the chart of {release}"),
        }
    }
}

/// The charts and appliers of a cluster with unknown contents.
#[derive(Debug, Default)]
pub(crate) struct UnknownSources<'a> {
    /// An applier that may contain any object.
    anything: Option<&'a Arc<Applier>>,
    /// The appliers that may contain objects of a namespace.
    namespaces: BTreeMap<&'a str, &'a Arc<Applier>>,
    /// An applier that may contain cluster-scoped objects.
    cluster_scoped: Option<&'a Arc<Applier>>,
    /// The releases whose charts are installed to a namespace.
    releases: BTreeMap<&'a str, Vec<&'a Object>>,
    /// The namespaces that releases create themselves.
    created: BTreeSet<&'a str>,
}

impl<'a> UnknownSources<'a> {
    /// The unknown sources among the releases and appliers of a cluster.
    ///
    /// `lacks` tells whether the cluster has no such source: an applier with a missing source applies nothing.
    pub(crate) fn collect(
        releases: impl Iterator<Item = Applied<'a>>,
        appliers: impl Iterator<Item = &'a Arc<Applier>>,
        lacks: impl Fn(&ObjectRef) -> bool,
    ) -> Self {
        let mut sources = Self::default();
        releases.for_each(|release| sources.add_release(&release));
        let mut sourceless = Vec::new();
        for applier in appliers {
            let lacks_source = || applier.source.as_ref().is_some_and(&lacks);
            match &applier.state {
                _ if applier.is_known => {}
                State::NotBuilt(_) if lacks_source() => sourceless.push(applier),
                State::Built | State::Failed | State::NotBuilt(_) => sources.add_applier(applier),
            }
        }
        for applier in sourceless {
            let namespace = applier.source.as_ref().and_then(|source| source.namespace.as_deref()).unwrap_or_default();
            if sources.of_namespace(namespace).is_some() {
                sources.add_applier(applier);
            }
        }
        sources
    }

    fn add_release(&mut self, applied: &Applied<'a>) {
        let release = applied.object;
        if release.node.at_keys(&["spec", "kubeConfig"]).is_some() {
            return;
        }
        let Some(namespace) = spec_text(release, "targetNamespace").or(applied.namespace()) else { return };
        let creates = release.text_at(&["spec", "install", "createNamespace"]) == Some("true");
        // The release itself does not exist before its own namespace does.
        if creates && Some(namespace) != applied.namespace() {
            self.created.insert(namespace);
        }
        self.releases.entry(namespace).or_default().push(release);
    }

    fn add_applier(&mut self, applier: &'a Arc<Applier>) {
        match applier.object.as_ref().and_then(|object| spec_text(object, "targetNamespace")) {
            // The target namespace replaces that of namespaced objects only.
            Some(namespace) => {
                self.cluster_scoped.get_or_insert(applier);
                self.namespaces.entry(namespace).or_insert(applier);
            }
            None => {
                self.anything.get_or_insert(applier);
            }
        }
    }

    /// The releases of a namespace, if nothing but their charts may contain an object of it.
    pub(crate) fn only_releases(&self, namespace: &str) -> Option<&[&'a Object]> {
        if self.anything.is_some() || self.namespaces.contains_key(namespace) {
            return None;
        }
        Some(self.releases.get(namespace).map_or(&[], Vec::as_slice))
    }

    /// Returns whether a release creates a namespace.
    pub(crate) fn creates(&self, namespace: &str) -> bool {
        self.created.contains(namespace)
    }

    /// Returns whether an applier that is not built may contain a Namespace.
    pub(crate) fn may_contain_namespaces(&self) -> bool {
        self.anything.or(self.cluster_scoped).is_some()
    }

    /// A source that may contain an object of a namespace; the empty namespace means cluster-scoped objects.
    pub(crate) fn of_namespace(&self, namespace: &str) -> Option<UnknownSource> {
        let (applier, release) = match namespace {
            "" => (self.cluster_scoped, self.releases.values().next()),
            _ => (self.namespaces.get(namespace).copied(), self.releases.get(namespace)),
        };
        let release = release.and_then(|releases| releases.first());
        self.anything.or(applier).map(unbuilt).or_else(|| release.map(|release| chart_of(release)))
    }

    /// A source that may contain a Namespace object with a name.
    pub(crate) fn of_namespace_object(&self, name: &str) -> Option<UnknownSource> {
        let is_similar = |chart: &str| !chart.is_empty() && (name.starts_with(chart) || chart.starts_with(name));
        let is_named_so = |release: &&&Object| {
            // Flux cannot apply a release to a namespace that does not exist.
            if release.namespace() == Some(name) {
                return false;
            }
            let chart = release.text_at(&["spec", "chart", "spec", "chart"]).and_then(|chart| chart.rsplit('/').next());
            let names = [Some(release.name()), chart, release.text_at(&["spec", "chartRef", "name"])];
            names.into_iter().flatten().any(is_similar)
        };
        let release = || self.releases.values().flatten().find(is_named_so);
        self.anything.or(self.cluster_scoped).map(unbuilt).or_else(|| release().map(|release| chart_of(release)))
    }
}

fn unbuilt(applier: &Arc<Applier>) -> UnknownSource {
    match &applier.state {
        State::NotBuilt(reason) => UnknownSource::NotBuilt(applier.reference.clone(), reason.clone()),
        State::Built | State::Failed => UnknownSource::FailedBuild(applier.reference.clone()),
    }
}

fn chart_of(release: &Object) -> UnknownSource {
    UnknownSource::Chart(release.reference())
}

fn spec_text<'a>(object: &'a Object, field: &str) -> Option<&'a str> {
    object.text_at(&["spec", field]).filter(|text| !text.is_empty() && !text.contains('$'))
}
