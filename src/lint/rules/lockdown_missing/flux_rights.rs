//! The rights of tenants to create the objects through which they would use the rights of Flux.

use crate::kube::groups;
use crate::lint::view::View;
use crate::rbac::{Answer, Binding, Request};

/// The resources that Flux applies with its own rights without the lockdown.
const RESOURCES: [(&str, &str); 2] = [(groups::KUSTOMIZE, "kustomizations"), (groups::HELM, "helmreleases")];

/// Returns whether no account of a tenant may write a Kustomization or HelmRelease, according to the bindings in Git.
///
/// Every account must have a binding: the rights of other accounts are unknown. So are those of users and groups.
pub(super) fn cannot_use_flux(view: &View<'_>) -> bool {
    let rbac = view.rbac();
    let mut tenants = view.tenants().iter().filter(|tenant| !tenant.namespaces.is_empty()).peekable();
    let of_others = |binding: &Binding| {
        binding.is_written() && binding.subjects.iter().any(|bound| bound.subject.account().is_none())
    };
    tenants.peek().is_some()
        && tenants.all(|tenant| {
            let has_others =
                rbac.bindings().any(|binding| tenant.namespaces.contains(&binding.namespace) && of_others(binding));
            let is_denied = |namespace: &str, account| {
                RESOURCES.iter().flat_map(|of| ["create", "patch", "update"].map(|verb| (of, verb))).all(
                    |((group, resource), verb)| {
                        let request = Request::new(verb, group, resource).in_namespace(namespace);
                        matches!(rbac.can(account, &request), Answer::Denied)
                    },
                )
            };
            let cannot = |account| {
                rbac.is_bound(account) && tenant.namespaces.iter().all(|namespace| is_denied(namespace, account))
            };
            !tenant.users.is_empty() && !has_others && tenant.users.iter().all(cannot)
        })
}
