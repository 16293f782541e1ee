//! Accounts without rights in the namespace in which Flux creates objects.

use crate::kube::Object;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::view::View;
use crate::rbac::{Account, acts_as};

/// The account that Flux uses for an object, if it certainly cannot create anything in another namespace.
///
/// `None` if the account may be missing, which is the cause then.
pub(crate) fn account_without_rights(
    view: &View<'_>,
    object: &Object,
    namespace: Option<&str>,
    target: &str,
) -> Option<Account> {
    if !view.is_whole() || view.receiver.target.is_some() || namespace == Some(target) {
        return None;
    }
    let account = acts_as(object, namespace, view.tenancy())?;
    let is_known = matches!(
        view.presence("", "ServiceAccount", &account.namespace, &account.name),
        Presence::Received(_) | Presence::BuiltIn
    );
    (is_known && view.rbac().can_create_nothing(&account, target)).then_some(account)
}
