//! The identities that an account can assume by creating or changing an object that names a service account.

use std::collections::BTreeSet;

use super::actor::Actor;
use crate::rbac::authz::authorizer::Grant;
use crate::rbac::authz::cluster::Rbac;
use crate::rbac::identity::content_users::CONTENTS;
use crate::rbac::model::account_kind::AccountKind;
use crate::rbac::model::request::Request;
use crate::rbac::model::subject::Account;
use crate::yaml::Name;

impl Rbac {
    /// The identities that an account can assume with an object of a kind in a scope, each with the grant that allows
    /// the object.
    pub(super) fn actors_by_object(
        &self,
        account: &Account,
        scope: &Name,
        kind: AccountKind<'_>,
    ) -> Option<(Grant<'_>, Vec<Actor>)> {
        let request = |verb| Request::new(verb, kind.group, kind.plural).in_namespace(scope);
        if let Some(grant) = self.can(account, &request("create")).grant() {
            return Some((grant, vec![Actor::every_account_of(scope)]));
        }
        let names = self.names_in(account, scope, kind);
        // Server-side apply names the object to create, so rights that are limited to a name are sufficient.
        let creates = |name: &&Name| {
            let grant = |verb| self.can(account, &request(verb).named(name)).grant();
            grant("create").zip(grant("patch")).map(|(create, _)| create)
        };
        if let Some(grant) = names.iter().find_map(creates) {
            return Some((grant, vec![Actor::every_account_of(scope)]));
        }
        let changes = |name: &str| {
            ["patch", "update"].iter().find_map(|verb| self.can(account, &request(verb).named(name)).grant())
        };
        let any = changes("");
        let mut allowed: Option<Grant<'_>> = None;
        let mut namespaces: BTreeSet<&Name> = BTreeSet::new();
        for (namespace, objects) in self.account_objects.of_kind(kind.kind, scope) {
            let one = || names.iter().filter(|name| objects.contains(**name)).find_map(|name| changes(name));
            if let Some(grant) = any.or_else(one) {
                allowed.get_or_insert(grant);
                namespaces.insert(namespace);
            }
        }
        let actors = if scope.is_empty() {
            self.most_powerful(|account| namespaces.contains(&account.namespace))
                .into_iter()
                .map(Actor::Account)
                .collect()
        } else {
            vec![Actor::every_account_of(scope)]
        };
        allowed.map(|grant| (grant, actors))
    }

    /// The accounts under which Flux applies the content of sources and FluxInstances that an account can change, each
    /// with the kind of the changed object and the grant.
    pub(super) fn users_of_content(
        &self,
        account: &Account,
        scope: &Name,
    ) -> Vec<(Account, AccountKind<'static>, Grant<'_>)> {
        let mut found = Vec::new();
        for kind in CONTENTS {
            let mut objects = self.content_users.of_kind(kind.kind, scope).peekable();
            if objects.peek().is_none() {
                continue;
            }
            let changes = |name: &str| {
                let request = |verb| Request::new(verb, kind.group, kind.plural).in_namespace(scope).named(name);
                ["patch", "update"].iter().find_map(|verb| self.can(account, &request(verb)).grant())
            };
            let (any, names) = (changes(""), self.names_in(account, scope, kind));
            let mut known: BTreeSet<&Account> = BTreeSet::new();
            for (_, objects) in objects {
                for (name, users) in objects {
                    let one = || names.contains(name).then(|| changes(name)).flatten();
                    let Some(grant) = any.or_else(one) else { continue };
                    let new = users.iter().filter(|user| known.insert(user));
                    found.extend(new.map(|user| (user.clone(), kind, grant)));
                }
            }
        }
        found
    }

    /// The object names in the rules of an account for a kind in a scope.
    fn names_in(&self, account: &Account, scope: &str, kind: AccountKind<'_>) -> BTreeSet<&Name> {
        let mut names = BTreeSet::new();
        for subject in account.subjects() {
            let rules = self.bindings_in(&subject, scope).flat_map(|binding| self.rules(binding));
            let related = rules.filter(|(rule, _)| rule.mentions(kind.group, kind.plural));
            names.extend(related.flat_map(|(rule, _)| &rule.names));
        }
        names
    }
}
