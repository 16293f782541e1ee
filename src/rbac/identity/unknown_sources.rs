//! The sources of unknown roles, bindings and policies: charts, and appliers that are not built.
//!
//! Each of them can create no more than the service account may create that it impersonates.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::flux_identity::acts_as;
use crate::base::finding::ObjectRef;
use crate::flux::{Applied, Applier, NotBuiltReason, Receiver, State, Tenancy};
use crate::rbac::model::subject::Account;
use crate::yaml::Name;

/// A source of unknown roles, bindings and policies, as messages name it.
#[derive(Debug, Clone)]
pub(crate) enum UnknownRights {
    /// Other appliers, in a repository without a root.
    NoRoot,
    /// An applier whose build fails.
    FailedBuild(ObjectRef),
    /// An applier that is not built, with the reason.
    NotBuilt(ObjectRef, NotBuiltReason),
    /// The chart of a release.
    Chart(ObjectRef),
}

impl fmt::Display for UnknownRights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRoot => f.write_str("another applier of this repository without a root"),
            Self::FailedBuild(applier) => write!(f, "{applier}, which does not build,"),
            Self::NotBuilt(applier, reason) => write!(f, "{applier}, which is not built ({reason}),"),
            Self::Chart(release) => write!(f, "the chart of {release}"),
        }
    }
}

impl UnknownRights {
    /// Returns whether the source is named after admission policies.
    fn is_named_after_policies(&self) -> bool {
        let reference = match self {
            Self::NoRoot => return true,
            Self::FailedBuild(reference) | Self::NotBuilt(reference, _) | Self::Chart(reference) => reference,
        };
        let names = [Some(&reference.name), reference.namespace.as_ref()];
        names.into_iter().flatten().any(|name| ["polic", "constraint"].iter().any(|word| name.contains(word)))
    }
}

/// The unknown sources of rights on a cluster, by what they may create.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnknownRightsSources {
    /// A source that may create any object.
    anything: Option<UnknownRights>,
    /// A source whose chart may create cluster-scoped objects.
    chart: Option<UnknownRights>,
    /// The sources that may create objects of a namespace.
    namespaces: BTreeMap<Name, UnknownRights>,
    /// A source that may create admission policies: an applier that is not built, or a source that is named after them.
    policies: Option<UnknownRights>,
}

/// An applier or chart with unknown contents.
#[derive(Debug)]
pub(crate) struct UnknownContents {
    source: UnknownRights,
    /// The account that it impersonates; `None` if it may do everything.
    account: Option<Account>,
    /// The namespace to which a chart is installed.
    chart_namespace: Option<Name>,
    /// The name of the source that an applier builds.
    artifact: Option<Name>,
}

impl UnknownContents {
    /// The unknown contents of an applier; `None` if it is built.
    pub(crate) fn of_applier(applier: &Applier, tenancy: &Tenancy) -> Option<Self> {
        let source = match &applier.state {
            State::Built => return None,
            State::Failed => UnknownRights::FailedBuild(applier.reference.clone()),
            State::NotBuilt(reason) => UnknownRights::NotBuilt(applier.reference.clone(), reason.clone()),
        };
        let object = applier.object.as_ref();
        let account = object.and_then(|object| acts_as(object, object.namespace(), tenancy));
        let artifact = applier.source.as_ref().map(|source| source.name.clone());
        Some(Self { source, account, chart_namespace: None, artifact })
    }

    /// The unknown contents of the chart of a HelmRelease; `None` if it is installed on another cluster.
    pub(crate) fn of_chart(release: &Applied<'_>, tenancy: &Tenancy) -> Option<Self> {
        let object = release.object;
        if object.node.at_keys(&["spec", "kubeConfig"]).is_some() {
            return None;
        }
        let target = object.text_at(&["spec", "targetNamespace"]).filter(|name| !name.is_empty());
        let chart_namespace = target.or(release.namespace()).map(Name::from);
        let account = acts_as(object, release.namespace(), tenancy);
        Some(Self { source: UnknownRights::Chart(object.reference()), account, chart_namespace, artifact: None })
    }

    /// Returns whether the applier or its source is named after admission policies.
    fn is_named_after_policies(&self) -> bool {
        let is_named = |name: &Name| ["polic", "constraint"].iter().any(|word| name.contains(word));
        self.source.is_named_after_policies() || self.artifact.as_ref().is_some_and(is_named)
    }
}

impl UnknownRightsSources {
    /// The unknown sources of a cluster.
    ///
    /// `is_bound` tells whether a known binding names an account. `scopes` returns the namespaces in which an account may
    /// create roles or bindings; the empty namespace is the whole cluster.
    pub(crate) fn collect(
        receiver: &Receiver<'_>,
        contents: Vec<UnknownContents>,
        is_bound: impl Fn(&Account) -> bool,
        scopes: impl Fn(&Account) -> BTreeSet<Name>,
    ) -> Self {
        let mut sources = Self::default();
        if receiver.cluster.name.is_empty() {
            (sources.anything, sources.policies) = (Some(UnknownRights::NoRoot), Some(UnknownRights::NoRoot));
        }
        // An unknown source may bind an account that no known binding names. Such accounts come last.
        let is_unbound = |one: &UnknownContents| one.account.as_ref().is_some_and(|account| !is_bound(account));
        let (unbound, bound): (Vec<UnknownContents>, Vec<UnknownContents>) = contents.into_iter().partition(is_unbound);
        for one in bound.into_iter().chain(unbound) {
            let may_be_bound = one
                .account
                .as_ref()
                .is_some_and(|account| !is_bound(account) && sources.of_bindings(&account.namespace).is_some());
            let scopes = one.account.as_ref().map(&scopes);
            let is_everywhere =
                may_be_bound || scopes.as_ref().is_none_or(|scopes| scopes.iter().any(|scope| scope.is_empty()));
            // Flux applies nothing of a build that fails.
            let is_unbuilt = matches!(one.source, UnknownRights::NotBuilt(..));
            if one.is_named_after_policies() || (is_everywhere && is_unbuilt) {
                sources.policies.get_or_insert_with(|| one.source.clone());
            }
            match one.chart_namespace {
                None if is_everywhere => {
                    sources.anything.get_or_insert(one.source);
                }
                // A chart creates cluster-scoped objects and, mostly, objects of its own namespace.
                Some(namespace) if is_everywhere => {
                    sources.namespaces.entry(namespace).or_insert_with(|| one.source.clone());
                    sources.chart.get_or_insert(one.source);
                }
                None | Some(_) => {
                    for scope in scopes.into_iter().flatten() {
                        sources.namespaces.entry(scope).or_insert_with(|| one.source.clone());
                    }
                }
            }
        }
        sources
    }

    /// A source that may create a Role of a namespace, or a ClusterRole if the namespace is empty.
    pub(crate) fn of_roles(&self, namespace: &str) -> Option<&UnknownRights> {
        let own = if namespace.is_empty() { self.chart.as_ref() } else { self.namespaces.get(namespace) };
        self.anything.as_ref().or(own)
    }

    /// A source that may create a ClusterRole that others aggregate. Operators create roles for their own kinds.
    pub(crate) fn of_aggregated_roles(&self) -> Option<&UnknownRights> {
        self.anything.as_ref().or(self.chart.as_ref())
    }

    /// A source that may create admission policies.
    pub(crate) fn of_policies(&self) -> Option<&UnknownRights> {
        self.policies.as_ref()
    }

    /// The sources that may create objects in one of some namespaces.
    pub(crate) fn of_namespaces<'a>(
        &'a self,
        namespaces: &'a BTreeSet<Name>,
    ) -> impl Iterator<Item = &'a UnknownRights> {
        self.anything.iter().chain(namespaces.iter().filter_map(|namespace| self.namespaces.get(namespace)))
    }

    /// A source that may create a binding for an account of a namespace.
    pub(crate) fn of_bindings(&self, namespace: &str) -> Option<&UnknownRights> {
        self.anything.as_ref().or_else(|| self.namespaces.get(namespace))
    }
}
