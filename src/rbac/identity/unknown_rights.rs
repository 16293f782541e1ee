//! The sources of unknown roles, bindings and policies: charts, and appliers that are not built.
//!
//! A source can create only the objects that its service account may create.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use arcstr::ArcStr;

use super::flux_identity::acts_as;
use crate::base::finding::ObjectRef;
use crate::flux::{
    Applied, Applier, Creates, FleetIdentity, NotBuiltReason, Receiver, State, Tenancy, UnknownProducer,
};
use crate::kube::{Object, ObjectId, groups};
use crate::kustomize::UnreadBase;
use crate::rbac::model::subject::Account;
use crate::yaml::Name;

/// A source of unknown roles, bindings and policies. `Display` formats it for messages.
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
    /// A base of an applier at a URL without a copy.
    RemoteBase(ObjectRef, Name),
}

impl fmt::Display for UnknownRights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRoot => f.write_str("another applier of this repository without a root"),
            Self::FailedBuild(applier) => write!(f, "{applier}, which does not build,"),
            Self::NotBuilt(applier, reason) => write!(f, "{applier}, which is not built ({reason}),"),
            Self::Chart(release) => write!(f, "the chart of {release}"),
            Self::RemoteBase(applier, url) => write!(f, "the remote base `{url}` of {applier}"),
        }
    }
}

impl UnknownRights {
    /// Returns whether the name of the source indicates admission policies.
    fn is_named_after_policies(&self) -> bool {
        let reference = match self {
            Self::NoRoot => return true,
            Self::FailedBuild(reference)
            | Self::NotBuilt(reference, _)
            | Self::Chart(reference)
            | Self::RemoteBase(reference, _) => reference,
        };
        let names = [Some(&reference.name), reference.namespace.as_ref()];
        names.into_iter().flatten().any(|name| ["polic", "constraint"].iter().any(|word| name.contains(word)))
    }
}

/// The unknown sources of rights on a cluster, by the objects that they may create.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnknownRightsSources {
    /// A source that may create any object.
    anything: Option<UnknownRights>,
    /// The sources that may create cluster-scoped objects, and objects of any namespace.
    everywhere: Vec<Producer>,
    /// The charts that may create cluster-scoped objects.
    charts: Vec<Producer>,
    /// The sources that may create objects of a namespace.
    namespaces: BTreeMap<Name, Vec<Producer>>,
    /// A source that may create admission policies: an applier that is not built, or a source whose name indicates
    /// policies.
    policies: Option<UnknownRights>,
}

/// A source with its known contents.
type Producer = (UnknownRights, Arc<UnknownProducer>);

/// An applier or chart with unknown contents.
#[derive(Debug)]
pub(crate) struct UnknownRightsSource {
    source: UnknownRights,
    contents: Arc<UnknownProducer>,
    /// The account that Flux impersonates for the applier or chart; `None` for unlimited rights.
    account: Option<Account>,
    /// The namespace in which a chart is installed.
    chart_namespace: Option<Name>,
    /// The name of the source from which an applier is built.
    artifact: Option<Name>,
}

impl UnknownRightsSource {
    /// The unknown contents of an applier, with the source of its artifact; `None` for an applier that is built.
    pub(crate) fn of_applier(
        applier: &Applier,
        artifact: Option<&Object>,
        fleet: &FleetIdentity,
        tenancy: &Tenancy,
    ) -> Option<Self> {
        let (source, artifact_object) = match &applier.state {
            State::Built => return None,
            State::Failed => (UnknownRights::FailedBuild(applier.reference.clone()), None),
            State::NotBuilt(reason) => (UnknownRights::NotBuilt(applier.reference.clone(), reason.clone()), artifact),
        };
        let object = applier.object.as_ref();
        let account = object.and_then(|object| acts_as(object, object.namespace(), tenancy));
        let contents = UnknownProducer::of_applier(object, artifact_object, fleet).into();
        let artifact = applier.source.as_ref().map(|source| source.name.clone());
        Some(Self { source, contents, account, chart_namespace: None, artifact })
    }

    /// The unknown contents of a base of an applier at a URL without a copy.
    pub(crate) fn of_base(applier: &Applier, base: &UnreadBase, fleet: &FleetIdentity, tenancy: &Tenancy) -> Self {
        let source = UnknownRights::RemoteBase(applier.reference.clone(), base.url.clone());
        let account = applier.object.as_ref().and_then(|object| acts_as(object, object.namespace(), tenancy));
        let contents = UnknownProducer::of_base(base, fleet).into();
        Self { source, contents, account, chart_namespace: None, artifact: None }
    }

    /// The unknown contents of the chart of a HelmRelease; `None` if the chart is installed on another cluster.
    pub(crate) fn of_chart(
        release: &Applied<'_>,
        chart_source: Option<&Object>,
        fleet: &FleetIdentity,
        tenancy: &Tenancy,
    ) -> Option<Self> {
        let object = release.object;
        if object.node.at_keys(&["spec", "kubeConfig"]).is_some() {
            return None;
        }
        let target = object.text_at(&["spec", "targetNamespace"]).filter(|name| !name.is_empty());
        let chart_namespace = target.or(release.namespace()).map(Name::from);
        let account = acts_as(object, release.namespace(), tenancy);
        let source = UnknownRights::Chart(object.reference());
        let namespace = chart_namespace.as_deref().unwrap_or_default();
        let contents = UnknownProducer::of_release(object, namespace, chart_source, fleet).into();
        Some(Self { source, contents, account, chart_namespace, artifact: None })
    }

    /// Returns whether the name of the applier or of its source indicates admission policies.
    fn is_named_after_policies(&self) -> bool {
        let is_named = |name: &Name| ["polic", "constraint"].iter().any(|word| name.contains(word));
        self.source.is_named_after_policies() || self.artifact.as_ref().is_some_and(is_named)
    }
}

impl UnknownRightsSources {
    /// The unknown sources of a cluster.
    ///
    /// `is_bound` returns whether a known binding has an account as subject. `scopes` returns the namespaces in which
    /// an account may create roles or bindings; the empty namespace is the whole cluster.
    pub(crate) fn collect(
        receiver: &Receiver<'_>,
        contents: Vec<UnknownRightsSource>,
        is_bound: impl Fn(&Account) -> bool,
        scopes: impl Fn(&Account) -> BTreeSet<Name>,
    ) -> Self {
        let mut sources = Self::default();
        if receiver.cluster.name.is_empty() {
            (sources.anything, sources.policies) = (Some(UnknownRights::NoRoot), Some(UnknownRights::NoRoot));
        }
        // An unknown source may bind an account that no known binding includes. Sources with such an account come last.
        let is_unbound = |one: &UnknownRightsSource| one.account.as_ref().is_some_and(|account| !is_bound(account));
        let (unbound, bound): (Vec<UnknownRightsSource>, Vec<UnknownRightsSource>) =
            contents.into_iter().partition(is_unbound);
        for one in bound.into_iter().chain(unbound) {
            let may_be_bound = one
                .account
                .as_ref()
                .is_some_and(|account| !is_bound(account) && sources.of_bindings(account).is_some());
            let scopes = one.account.as_ref().map(&scopes);
            let is_everywhere =
                may_be_bound || scopes.as_ref().is_none_or(|scopes| scopes.iter().any(ArcStr::is_empty));
            // If a build fails, Flux does not apply the objects of the build.
            let is_unbuilt = matches!(one.source, UnknownRights::NotBuilt(..) | UnknownRights::RemoteBase(..))
                && one.contents.may_create_anything();
            if one.is_named_after_policies() || (is_everywhere && is_unbuilt) {
                sources.policies.get_or_insert_with(|| one.source.clone());
            }
            let producer = (one.source, one.contents);
            match one.chart_namespace {
                None if is_everywhere => sources.everywhere.push(producer),
                // A chart creates cluster-scoped objects and, usually, objects of its own namespace.
                Some(namespace) if is_everywhere => {
                    sources.namespaces.entry(namespace).or_default().push(producer.clone());
                    sources.charts.push(producer);
                }
                None | Some(_) => {
                    for scope in scopes.into_iter().flatten() {
                        sources.namespaces.entry(scope).or_default().push(producer.clone());
                    }
                }
            }
        }
        sources
    }

    /// A source that may create a Role of a namespace, or a ClusterRole if the namespace is empty.
    pub(crate) fn of_role(&self, namespace: &str, name: &str) -> Option<&UnknownRights> {
        let kind = if namespace.is_empty() { "ClusterRole" } else { "Role" };
        self.of(ObjectId { group: groups::RBAC, kind, namespace, name })
    }

    /// A source that may create a ClusterRole with rules for an API group, which other ClusterRoles aggregate.
    pub(crate) fn of_aggregated_roles(&self, group: &str) -> Option<&UnknownRights> {
        let mut sources = self.everywhere.iter().chain(&self.charts);
        let found = sources.find(|(_, contents)| contents.may_extend_roles(group));
        self.anything.as_ref().or_else(|| found.map(|(source, _)| source))
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
        let in_namespaces = namespaces.iter().filter_map(|namespace| self.namespaces.get(namespace)?.first());
        let everywhere = self.anything.iter().chain(self.everywhere.first().map(|(source, _)| source)).take(1);
        everywhere.chain(in_namespaces.map(|(source, _)| source))
    }

    /// A source that may create a binding for an account.
    ///
    /// A chart binds the accounts that it creates itself. These include an account of the fleet only if the values of
    /// the chart contain the account.
    pub(crate) fn of_bindings(&self, account: &Account) -> Option<&UnknownRights> {
        self.of(ObjectId { group: "", kind: "ServiceAccount", namespace: &account.namespace, name: &account.name })
    }

    fn of(&self, id: ObjectId<'_>) -> Option<&UnknownRights> {
        let own = if id.namespace.is_empty() { Some(&self.charts) } else { self.namespaces.get(id.namespace) };
        let mut all = self.everywhere.iter().chain(own.into_iter().flatten());
        let found = all.find(|(_, contents)| contents.creates(id) != Creates::Never);
        self.anything.as_ref().or_else(|| found.map(|(source, _)| source))
    }
}
