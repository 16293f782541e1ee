//! The rights of the accounts that apply unknown contents.
//!
//! An applier or a release with an account cannot create an object that the account is not allowed to create.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use crate::kube::ObjectId;
use crate::lint::facts::unknown_sources::Producer;
use crate::lint::view::View;
use crate::rbac::{Account, Answer, Request, acts_as};

impl View<'_> {
    /// Returns whether the rights of a producer's account certainly prevent that it creates an object.
    pub(crate) fn is_denied(&self, producer: &Producer<'_>, wanted: ObjectId<'_>) -> bool {
        let account = producer.object.and_then(|object| acts_as(object, Some(producer.home), self.tenancy()));
        let Some(account) = account.filter(|_| self.receiver.target.is_none()) else { return false };
        let Some(kind) = self.kinds().find(wanted.group, wanted.kind) else { return false };
        // The API server authorizes a request for a Namespace in that namespace.
        let is_namespace = wanted.group.is_empty() && wanted.kind == "Namespace";
        let scope = if is_namespace { wanted.name } else { wanted.namespace };
        let request = Request::new("create", wanted.group, &kind.plural).in_namespace(scope).named(wanted.name);
        matches!(self.rbac().can(&account, &request), Answer::Denied) && self.is_confined(&account)
    }

    /// Returns whether an account cannot assume an identity with further rights, for example with a Kustomization that
    /// Flux applies with its own rights.
    fn is_confined(&self, account: &Account) -> bool {
        let known = self.confined.lock().unwrap_or_else(PoisonError::into_inner).get(account).copied();
        known.unwrap_or_else(|| {
            let own = BTreeSet::from([account.namespace.clone()]);
            let chains = self.rbac().escape_chains(std::slice::from_ref(account), &own);
            let is_confined = chains.is_empty() && !self.rbac().may_do_everything(account);
            self.confined.lock().unwrap_or_else(PoisonError::into_inner).insert(account.clone(), is_confined);
            is_confined
        })
    }
}
