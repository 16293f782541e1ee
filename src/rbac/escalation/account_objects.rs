//! Who may make an object of a kind, or change one that is there, and as whom that lets him act: such an object names an
//! account of its namespace, or runs as one.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::flux_identity::APPLIERS;
use super::impersonation::{Actor, WORKLOADS};
use crate::kube::Object;
use crate::rbac::admission::policy::Named;
use crate::rbac::authz::answer::Grant;
use crate::rbac::authz::cluster::Rbac;
use crate::rbac::authz::request::Request;
use crate::rbac::authz::subject::Account;
use crate::yaml::Name;

/// The objects of a cluster that name an account: by kind, namespace and name.
#[derive(Debug, Default)]
pub(crate) struct Present(BTreeMap<&'static str, BTreeMap<Name, BTreeSet<Name>>>);

impl Present {
    /// Takes an object, if it is one whose account can be changed while it is there.
    pub(crate) fn take(&mut self, object: &Object, namespace: Option<&str>) {
        let kinds = APPLIERS.iter().map(|applier| applier.named).chain(WORKLOADS);
        let Some(kind) = kinds.filter(|named| object.is(named.group, named.kind)).map(|named| named.kind).next() else {
            return;
        };
        // The template of a Job, and what a Pod runs as, cannot be changed.
        if let Some(namespace) = namespace.filter(|_| kind != "Job" && kind != "Pod") {
            self.0.entry(kind).or_default().entry(namespace.into()).or_default().insert(object.name().into());
        }
    }

    /// The objects of a kind: of a namespace, or with the empty one of the whole cluster.
    fn of(&self, kind: &str, scope: &str) -> impl Iterator<Item = (&Name, &BTreeSet<Name>)> {
        let bounds = match scope {
            "" => (Bound::Unbounded, Bound::Unbounded),
            one => (Bound::Included(one), Bound::Included(one)),
        };
        self.0.get(kind).into_iter().flat_map(move |all| all.range::<str, _>(bounds))
    }
}

impl Rbac {
    /// As whom somebody may act by an object of a kind in a scope, and what allows it.
    pub(super) fn by_object(
        &self,
        account: &Account,
        scope: &Name,
        kind: Named<'_>,
    ) -> Option<(Grant<'_>, Vec<Actor>)> {
        let request = |verb| Request::new(verb, kind.group, kind.plural).in_namespace(scope);
        if let Some(grant) = self.can(account, &request("create")).grant() {
            return Some((grant, vec![everyone(scope)]));
        }
        let names = self.names_in(account, scope, kind);
        // Who applies by a patch says the name of what is not there yet, so that a right to that name is enough.
        let makes = |name: &&Name| {
            let may = |verb| self.can(account, &request(verb).named(name)).grant();
            may("create").zip(may("patch")).map(|(create, _)| create)
        };
        if let Some(grant) = names.iter().find_map(makes) {
            return Some((grant, vec![everyone(scope)]));
        }
        let changes = |name: &str| {
            ["patch", "update"].iter().find_map(|verb| self.can(account, &request(verb).named(name)).grant())
        };
        let any = changes("");
        let mut allowed: Option<Grant<'_>> = None;
        let mut there: BTreeSet<&Name> = BTreeSet::new();
        for (namespace, objects) in self.present.of(kind.kind, scope) {
            let one = || names.iter().filter(|name| objects.contains(**name)).find_map(|name| changes(name));
            if let Some(grant) = any.or_else(one) {
                allowed.get_or_insert(grant);
                there.insert(namespace);
            }
        }
        let actors = if scope.is_empty() {
            self.mightiest(|account| there.contains(&account.namespace)).into_iter().map(Actor::Account).collect()
        } else {
            vec![everyone(scope)]
        };
        allowed.map(|grant| (grant, actors))
    }

    /// The names of objects of a kind that the rules of an account name in a scope.
    fn names_in(&self, account: &Account, scope: &str, kind: Named<'_>) -> BTreeSet<&Name> {
        let mut names = BTreeSet::new();
        for subject in account.subjects() {
            let rules = self.bindings_in(&subject, scope).flat_map(|binding| self.rules(binding));
            let about = rules.filter(|(rule, _)| rule.mentions(kind.group, kind.plural));
            names.extend(about.flat_map(|(rule, _)| &rule.names));
        }
        names
    }
}

/// All accounts of a namespace, or with the empty one of the whole cluster.
pub(super) fn everyone(scope: &Name) -> Actor {
    if scope.is_empty() { Actor::AllAccounts } else { Actor::AccountsOf(scope.clone()) }
}
