use crate::base::finding::{Finding, Label, Severity};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::tenants::{Tenant, Tenants};
use crate::lint::view::View;
use crate::rbac::{Binding, BoundSubject, Role};

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

fn check(view: &View<'_>, found: &mut Findings) {
    let tenants = Tenants::of_cluster(view);
    for (binding, bound, tenant) in tenants.bindings(view) {
        if let Some((_, from)) = view.rbac().rules(binding).find(|(rule, _)| rule.is_everything()) {
            found.extend(finding(binding, bound, tenant, from));
        }
    }
}

fn finding(binding: &Binding, bound: &BoundSubject, tenant: &Tenant, from: &Role) -> Option<Finding> {
    let at = Label::new(bound.place.written()?.clone(), format!("an account of {}", tenant.called()));
    let is_own = tenant.namespaces.contains(&binding.namespace);
    let what = match &*binding.namespace {
        "" => "on the whole cluster".to_owned(),
        namespace => format!("in namespace `{namespace}`"),
    };
    let is_gathered = from.name != binding.role.name;
    let gathered = if is_gathered { format!(", which gathers {}", from.reference()) } else { String::new() };
    let message = format!("{} may do everything {what}, by {}{gathered}", bound.subject, binding.role_name());
    let help = if is_gathered {
        "list in the gathered role what it is for, or take away the label by which it is gathered: it is added to what \
         everybody has whom the role is bound to"
    } else if is_own {
        "bind it to `admin`, or to a role with what it needs: now it may change the quotas and policies that bind it"
    } else {
        "bind it to `admin` by a RoleBinding in its own namespace: now it may read and change what others rely on"
    };
    let mut finding = Finding::error(RULE.id, at, message).help(help);
    if is_own {
        finding.severity = Severity::Warning;
    }
    if let Some(place) = binding.role.place.written() {
        finding = finding.related(place.clone(), "this role");
    }
    if let Some(place) = from.place.written().filter(|_| is_gathered) {
        finding = finding.related(place.clone(), "it gathers this one");
    }
    Some(finding.about(binding.object()))
}
