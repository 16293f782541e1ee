//! What may give rights without being seen: charts, and appliers that were not built.

use std::collections::{BTreeMap, BTreeSet};

use crate::flux::{Applied, Receiver, State};
use crate::yaml::Name;

/// Who may bring roles and bindings that nobody sees here, in words.
#[derive(Debug, Clone, Default)]
pub(super) struct Unseen {
    /// Who may bring anything.
    anything: Option<String>,
    /// Who may bring ClusterRoles and ClusterRoleBindings: some chart.
    chart: Option<String>,
    /// Whose charts may bring what into a namespace.
    charts: BTreeMap<Name, String>,
}

impl Unseen {
    pub(super) fn of(receiver: &Receiver<'_>) -> Self {
        let mut unseen = Self::default();
        if receiver.cluster.name.is_empty() {
            unseen.anything = Some("the repository has no root, and others may bring more".to_owned());
        }
        for applier in receiver.cluster.appliers.iter().filter(|applier| applier.target == receiver.target) {
            let why = match &applier.state {
                State::Built => continue,
                State::Failed => format!("{} does not build", applier.reference),
                State::NotBuilt(why) => format!("{} is not built: {why}", applier.reference),
            };
            unseen.anything.get_or_insert(why);
        }
        unseen
    }

    /// Takes a HelmRelease: its chart may bring anything, most of all into its namespace.
    pub(super) fn take_release(&mut self, release: &Applied<'_>) {
        let object = release.object;
        if object.node.at_keys(&["spec", "kubeConfig"]).is_some() {
            return;
        }
        let who = format!("the chart of {}", object.reference());
        let target = object.text_at(&["spec", "targetNamespace"]).filter(|name| !name.is_empty());
        if let Some(namespace) = target.or(release.namespace()) {
            self.charts.entry(namespace.into()).or_insert_with(|| who.clone());
        }
        self.chart.get_or_insert(who);
    }

    /// Who may bring a role of a namespace, or a ClusterRole for the empty one.
    pub(super) fn role(&self, namespace: &str) -> Option<&String> {
        let chart = if namespace.is_empty() { self.chart.as_ref() } else { self.charts.get(namespace) };
        self.anything.as_ref().or(chart)
    }

    /// Who may bring a role that another one gathers. Operators come with roles for their own kinds.
    pub(super) fn gathered(&self) -> Option<&String> {
        self.anything.as_ref().or(self.chart.as_ref())
    }

    /// Whoever may bring something for accounts of namespaces.
    pub(super) fn of_namespaces<'a>(&'a self, namespaces: &'a BTreeSet<Name>) -> impl Iterator<Item = &'a String> {
        self.anything.iter().chain(namespaces.iter().filter_map(|namespace| self.charts.get(namespace)))
    }

    /// Who may bring a binding of an account.
    pub(super) fn binding(&self, namespace: &str) -> Option<&String> {
        self.anything.as_ref().or_else(|| self.charts.get(namespace))
    }
}
