use crate::finding::{Finding, Label, Severity};
use crate::lint::rule::declare;
use crate::lint::tenants::{Tenant, Tenants};
use crate::lint::{Check, Found, View};
use crate::rbac::{Binding, Bound};

declare! {
    /// A tenant's account may do everything: it is bound to `cluster-admin`, or to a role that allows as much.
    ///
    /// ## Why
    ///
    /// By a ClusterRoleBinding, or by a RoleBinding in a namespace that is not its own, whoever writes to the tenant's
    /// repository owns what others rely on: their Secrets, the policies, Flux itself. That is an error. By a RoleBinding
    /// in its own namespace the tenant may change its own quota, network policies and limits, which are there to bind
    /// it: a warning.
    ///
    /// A tenant is declared, or it is a namespace other than Flux's that holds Flux objects and is labelled
    /// `toolkit.fluxcd.io/tenant`, or whose account has a RoleBinding there. An account that only a ClusterRoleBinding
    /// serves is the platform's, unless its namespace is declared as a tenant's, or it is itself
    /// (`tenancy.tenants.NAME.accounts`).
    ///
    /// ## How to fix it
    ///
    /// Bind the account to `admin` or `edit` by a RoleBinding in each of its namespaces, or to a role with what it needs.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: backend
    /// ---
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: RoleBinding
    /// metadata:
    ///   name: flux
    ///   namespace: backend
    /// roleRef:
    ///   apiGroup: rbac.authorization.k8s.io
    ///   kind: ClusterRole
    ///   name: admin
    /// subjects:
    ///   - kind: ServiceAccount
    ///     name: flux
    ///     namespace: backend
    /// ---
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: ClusterRoleBinding
    /// metadata:
    ///   name: backend-flux
    /// roleRef:
    ///   apiGroup: rbac.authorization.k8s.io
    ///   kind: ClusterRole
    ///   name: cluster-admin
    /// subjects:
    ///   - kind: ServiceAccount
    ///     name: flux
    ///     namespace: backend
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: backend
    ///   namespace: backend
    /// spec:
    ///   interval: 1h
    ///   path: ./backend
    ///   prune: true
    ///   serviceAccountName: flux
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: apps
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: backend
    /// ---
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: RoleBinding
    /// metadata:
    ///   name: flux
    ///   namespace: backend
    /// roleRef:
    ///   apiGroup: rbac.authorization.k8s.io
    ///   kind: ClusterRole
    ///   name: admin
    /// subjects:
    ///   - kind: ServiceAccount
    ///     name: flux
    ///     namespace: backend
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: backend
    ///   namespace: backend
    /// spec:
    ///   interval: 1h
    ///   path: ./backend
    ///   prune: true
    ///   serviceAccountName: flux
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: apps
    /// ```
    ///
    /// ## Source
    ///
    /// [Kubernetes: default roles](https://kubernetes.io/docs/reference/access-authn-authz/rbac/#user-facing-roles),
    /// [flux2#505](https://github.com/fluxcd/flux2/issues/505)
    "tenant-cluster-admin", Error, "a tenant's account may do everything", Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Found) {
    let tenants = Tenants::of(view);
    for (binding, bound, tenant) in tenants.bound(view) {
        if view.rbac().rules(binding).any(|(rule, _)| rule.is_everything()) {
            found.extend(finding(binding, bound, tenant));
        }
    }
}

fn finding(binding: &Binding, bound: &Bound, tenant: &Tenant) -> Option<Finding> {
    let at = Label::new(bound.place.written()?.clone(), format!("an account of {}", tenant.called()));
    let is_own = tenant.namespaces.contains(&binding.namespace);
    let what = match &*binding.namespace {
        "" => "on the whole cluster".to_owned(),
        namespace => format!("in namespace `{namespace}`"),
    };
    let message = format!("{} may do everything {what}, by {}", bound.subject, binding.role_name());
    let help = if is_own {
        "bind it to `admin`, or to a role with what it needs: now it may change the quotas and policies that bind it"
    } else {
        "bind it to `admin` by a RoleBinding in its own namespace: now it may read and change what others rely on"
    };
    let mut finding = Finding::error(RULE.id, at, message).help(help);
    if is_own {
        finding.severity = Severity::Warning;
    }
    let of_role = binding.role.place.written().cloned();
    Some(of_role.into_iter().fold(finding, |finding, place| finding.related(place, "this role")).about(binding.object()))
}
