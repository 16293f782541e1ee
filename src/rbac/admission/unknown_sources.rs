//! What may give rights without being seen: charts, and appliers that were not built. Each brings no more than the
//! account may bring that it acts as.

use std::collections::{BTreeMap, BTreeSet};

use crate::flux::{Applied, Applier, Receiver, State, Tenancy};
use crate::kube::groups;
use crate::rbac::authz::cluster::Rbac;
use crate::rbac::authz::request::Request;
use crate::rbac::authz::subject::Account;
use crate::rbac::escalation::flux_identity::acts_as;
use crate::yaml::Name;

/// Who may bring roles and bindings that nobody sees here, in words.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unseen {
    /// Who may bring anything.
    anything: Option<String>,
    /// Whose chart may bring what has no namespace.
    chart: Option<String>,
    /// Who may bring what into a namespace.
    namespaces: BTreeMap<Name, String>,
    /// Who may bring admission policies: what was not built, and whose name says so.
    policies: Option<String>,
}

/// Something that brings what is not seen.
#[derive(Debug)]
pub(crate) struct Bringer {
    /// What it is, in words.
    who: String,
    /// The account that it acts as; `None` for one that may do everything.
    account: Option<Account>,
    /// The namespace that it brings things into, where it is a chart.
    chart_for: Option<Name>,
    /// Whether it fails: of that, Flux applies nothing.
    fails: bool,
}

impl Bringer {
    /// What an applier is that was not built.
    pub(crate) fn unbuilt(applier: &Applier, tenancy: &Tenancy) -> Option<Self> {
        let who = match &applier.state {
            State::Built => return None,
            State::Failed => format!("{}, which does not build,", applier.reference),
            State::NotBuilt(why) => format!("{}, which is not built ({why}),", applier.reference),
        };
        let object = applier.object.as_ref();
        let account = object.and_then(|object| acts_as(object, object.namespace(), tenancy));
        Some(Self { who, account, chart_for: None, fails: applier.state == State::Failed })
    }

    /// The chart of a HelmRelease; none for one that goes to another cluster.
    pub(crate) fn chart(release: &Applied<'_>, tenancy: &Tenancy) -> Option<Self> {
        let object = release.object;
        if object.node.at_keys(&["spec", "kubeConfig"]).is_some() {
            return None;
        }
        let target = object.text_at(&["spec", "targetNamespace"]).filter(|name| !name.is_empty());
        let chart_for = target.or(release.namespace()).map(Name::from);
        let account = acts_as(object, release.namespace(), tenancy);
        Some(Self { who: format!("the chart of {}", object.reference()), account, chart_for, fails: false })
    }
}

impl Unseen {
    /// What is not seen of a cluster, where `rbac` has all that is seen.
    pub(crate) fn of(receiver: &Receiver<'_>, bringers: Vec<Bringer>, rbac: &Rbac) -> Self {
        let mut unseen = Self::default();
        if receiver.cluster.name.is_empty() {
            let others = "whoever else brings something, since the repository has no root,".to_owned();
            (unseen.anything, unseen.policies) = (Some(others.clone()), Some(others));
        }
        // What an account may bring that nothing seen binds depends on who may bind it unseen: these come last.
        let is_unbound = |bringer: &Bringer| bringer.account.as_ref().is_some_and(|account| !rbac.is_bound(account));
        let (unbound, bound): (Vec<Bringer>, Vec<Bringer>) = bringers.into_iter().partition(is_unbound);
        for bringer in bound.into_iter().chain(unbound) {
            let is_doubtful = bringer
                .account
                .as_ref()
                .is_some_and(|account| !rbac.is_bound(account) && unseen.binding(&account.namespace).is_some());
            let scopes = bringer.account.as_ref().map(|account| rbac.may_give_rights_in(account));
            let is_everywhere =
                is_doubtful || scopes.as_ref().is_none_or(|scopes| scopes.iter().any(|scope| scope.is_empty()));
            let is_called = ["polic", "constraint"].iter().any(|word| bringer.who.contains(word));
            if is_called || (is_everywhere && bringer.chart_for.is_none() && !bringer.fails) {
                unseen.policies.get_or_insert_with(|| bringer.who.clone());
            }
            match bringer.chart_for {
                None if is_everywhere => {
                    unseen.anything.get_or_insert(bringer.who);
                }
                // A chart may bring what has no namespace; what has one is most of all for its own.
                Some(namespace) if is_everywhere => {
                    unseen.namespaces.entry(namespace).or_insert_with(|| bringer.who.clone());
                    unseen.chart.get_or_insert(bringer.who);
                }
                None | Some(_) => {
                    for scope in scopes.into_iter().flatten() {
                        unseen.namespaces.entry(scope).or_insert_with(|| bringer.who.clone());
                    }
                }
            }
        }
        unseen
    }

    /// Who may bring a role of a namespace, or a ClusterRole for the empty one.
    pub(crate) fn role(&self, namespace: &str) -> Option<&String> {
        let own = if namespace.is_empty() { self.chart.as_ref() } else { self.namespaces.get(namespace) };
        self.anything.as_ref().or(own)
    }

    /// Who may bring a role that another one gathers. Operators come with roles for their own kinds.
    pub(crate) fn gathered(&self) -> Option<&String> {
        self.anything.as_ref().or(self.chart.as_ref())
    }

    /// Who may bring admission policies.
    pub(crate) fn policies(&self) -> Option<&String> {
        self.policies.as_ref()
    }

    /// Whoever may bring something for accounts of namespaces.
    pub(crate) fn of_namespaces<'a>(&'a self, namespaces: &'a BTreeSet<Name>) -> impl Iterator<Item = &'a String> {
        self.anything.iter().chain(namespaces.iter().filter_map(|namespace| self.namespaces.get(namespace)))
    }

    /// Who may bring a binding of an account.
    pub(crate) fn binding(&self, namespace: &str) -> Option<&String> {
        self.anything.as_ref().or_else(|| self.namespaces.get(namespace))
    }
}

impl Rbac {
    /// Whether something that is seen binds an account, or the accounts of its namespace.
    pub(crate) fn is_bound(&self, account: &Account) -> bool {
        let subjects = account.subjects();
        let mut own = subjects.iter().filter(|subject| !subject.is_everybody());
        own.any(|subject| self.bindings_of(subject).next().is_some())
    }

    /// Where an account may write roles or bindings, as far as is seen; the empty namespace is the whole cluster.
    fn may_give_rights_in(&self, account: &Account) -> BTreeSet<Name> {
        let subjects = account.subjects();
        let own = subjects.iter().filter(|subject| !subject.is_everybody());
        let scopes: BTreeSet<&Name> =
            own.flat_map(|subject| self.bindings_of(subject)).map(|binding| &binding.namespace).collect();
        let may = |scope: &str, resource: &str| {
            self.can(account, &Request::new("create", groups::RBAC, resource).in_namespace(scope)).is_allowed()
        };
        let gives = |scope: &&&Name| match &****scope {
            "" => may("", "clusterroles") || may("", "clusterrolebindings"),
            scope => may(scope, "roles") || may(scope, "rolebindings"),
        };
        scopes.iter().filter(gives).map(|scope| (*scope).clone()).collect()
    }
}
