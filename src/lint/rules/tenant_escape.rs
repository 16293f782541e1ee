use std::ptr;

use crate::base::finding::{Finding, Label, Severity};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::tenants::{Tenant, Tenants};
use crate::lint::view::View;
use crate::rbac::{Actor, Binding, ChainEnd, ChainStep, DefinedIn, EscapeChain, Grant, Method, Rbac};
use crate::text::Span;

declare! {
    /// A chain of grants and of Flux impersonation gives a tenant rights outside its namespaces.
    ///
    /// ## Why
    ///
    /// Flux applies a Kustomization, HelmRelease or ResourceSet as the account in `serviceAccountName`, which can be
    /// any account of the namespace. An account that can create or change such an object in a namespace can therefore
    /// act as every account there, with all of its rights. One of them may be the account of an operator.
    ///
    /// Lockdown does not prevent this: it only sets the account of an object without `serviceAccountName`. Without
    /// lockdown, Flux applies such an object with the rights of the controller, which are those of a cluster admin.
    /// Workloads can also run as any account of their namespace. `impersonate`, tokens, `bind` and `escalate` allow
    /// further steps.
    ///
    /// The finding shows each step with its binding and its role. The rule ignores:
    ///
    /// - chains that stay within the namespaces of the tenant
    /// - rights that the account of the tenant already has
    /// - a step that an admission policy of the cluster may forbid because it checks `serviceAccountName`
    /// - a step that a policy in an unbuilt input or in a chart of policies may forbid
    /// - the missing lockdown, if `tenancy.lockdown` is `none`
    ///
    /// The severity is warning if the chain only gives read access, except to Secrets, or only access to authentication
    /// and authorization reviews.
    ///
    /// ## How to fix it
    ///
    /// Move the account with the wide rights to a namespace of the platform. Or remove the right to create such
    /// objects, or add an admission policy that restricts `serviceAccountName`. Enable the multi-tenancy lockdown of
    /// Flux.
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
    ///   name: edit
    /// subjects:
    ///   - kind: ServiceAccount
    ///     name: flux
    ///     namespace: backend
    /// ---
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: ClusterRoleBinding
    /// metadata:
    ///   name: operator
    /// roleRef:
    ///   apiGroup: rbac.authorization.k8s.io
    ///   kind: ClusterRole
    ///   name: cluster-admin
    /// subjects:
    ///   - kind: ServiceAccount
    ///     name: operator
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
    ///   name: edit
    /// subjects:
    ///   - kind: ServiceAccount
    ///     name: flux
    ///     namespace: backend
    /// ---
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: ClusterRoleBinding
    /// metadata:
    ///   name: operator
    /// roleRef:
    ///   apiGroup: rbac.authorization.k8s.io
    ///   kind: ClusterRole
    ///   name: cluster-admin
    /// subjects:
    ///   - kind: ServiceAccount
    ///     name: operator
    ///     namespace: operators
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
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: kustomize-controller
    ///   namespace: flux-system
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///         - name: manager
    ///           args:
    ///             - --default-service-account=default
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: helm-controller
    ///   namespace: flux-system
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///         - name: manager
    ///           args:
    ///             - --default-service-account=default
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: role-based access control](https://fluxcd.io/flux/components/kustomize/kustomizations/#role-based-access-control),
    /// [flux2#1829](https://github.com/fluxcd/flux2/issues/1829),
    /// [Kubernetes: workload creation](https://kubernetes.io/docs/concepts/security/rbac-good-practices/#workload-creation)
    "tenant-escape", Error, "a chain of grants gives a tenant rights outside its namespaces", Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    let tenants = Tenants::of_cluster(view);
    if tenants.is_empty() {
        return;
    }
    let rbac = view.rbac();
    for tenant in tenants.iter() {
        let mut reported: Vec<(Span, String)> = Vec::new();
        let mut escapes = rbac.escape_chains(&tenant.users, &tenant.namespaces);
        escapes.sort_by_key(|escape| !is_everything(rbac, &escape.end));
        for escape in escapes {
            if escape.forbidden_by().is_some() {
                found.unchecked("chains of grants that an admission policy may forbid");
                continue;
            }
            if let Some(applier) = rbac
                .unknown_policy_source()
                .filter(|_| escape.steps.iter().any(|step| step.by.method.may_be_forbidden()))
            {
                found.unchecked(format!("chains of grants that a policy of {applier} may forbid"));
                continue;
            }
            // The configuration accepts Flux without lockdown, with a reason.
            if view.tenancy().unlocked.is_some() && escape.steps.iter().any(|step| is_unnamed(step)) {
                continue;
            }
            let Some((at, kind)) = place_of(&escape).zip(kind(&escape, tenant)) else { continue };
            if reported.contains(&(at.clone(), kind.clone())) {
                continue;
            }
            reported.push((at.clone(), kind));
            found.push(finding(rbac, tenant, &escape, &at));
        }
    }
}

fn is_unnamed(step: &ChainStep<'_>) -> bool {
    matches!(step.by.method, Method::Controller(_))
}

/// The place where a chain starts: the binding that allows its first step.
fn place_of(escape: &EscapeChain<'_>) -> Option<Span> {
    let grants = &escape.steps.first()?.by.grants;
    grants.iter().find_map(|grant| grant.binding.place.written()).cloned()
}

/// The key that separates the faults of one binding. In the tenant's own namespaces it is the account at the end of the
/// chain, in other namespaces it is the namespace. All controllers that use their own account are one fault: Flux is
/// not locked down.
fn kind(escape: &EscapeChain<'_>, tenant: &Tenant) -> Option<String> {
    let last = escape.steps.last()?;
    Some(match (last.by.method, &last.to) {
        (Method::Controller(_), _) => "unnamed".to_owned(),
        (_, Actor::Account(account)) if tenant.namespaces.contains(&account.namespace) => account.to_string(),
        (_, Actor::Account(account)) => account.namespace.to_string(),
        (_, to) => to.to_string(),
    })
}

fn finding(rbac: &Rbac, tenant: &Tenant, escape: &EscapeChain<'_>, at: &Span) -> Finding {
    let reach = reach(rbac, &escape.end);
    let through: Vec<String> = escape.steps.iter().map(|step| step.to.to_string()).collect();
    let message = format!(
        "{} of {} can act as {}, and then has {reach}",
        who(escape),
        tenant.called(),
        through.join(", then as ")
    );
    let mut finding =
        Finding::error(RULE.id, Label::new(at.clone(), "the chain starts here"), message).help(help(escape, tenant));
    for step in &escape.steps {
        let by = how(step);
        for (at_grant, grant) in step.by.grants.iter().enumerate() {
            let is_same = |other: &Grant<'_>| ptr::eq(other.rule, grant.rule) && ptr::eq(other.binding, grant.binding);
            if step.by.grants.iter().take(at_grant).any(is_same) {
                continue;
            }
            if let Some(span) = grant.binding.place.written().filter(|span| *span != at) {
                finding = finding.related(span.clone(), format!("`{}` is bound here", step.who));
            }
            let label = format!("{} allows `{}` to act as {}: {by}", grant.from.reference(), step.who, step.to);
            match (&grant.rule.place, &grant.role.place) {
                (Some(span), _) | (None, DefinedIn::Written(span)) => finding = finding.related(span.clone(), label),
                (None, DefinedIn::Shipped(_)) => {
                    finding = finding.related(grant.binding.role.place.written().unwrap_or(at).clone(), label);
                }
            }
        }
    }
    if let ChainEnd::Bindings(bindings) = &escape.end {
        for binding in bindings {
            if let Some(span) = binding.place.written() {
                let last = escape.steps.last().map(|step| step.to.to_string()).unwrap_or_default();
                finding = finding.related(span.clone(), format!("{} is bound to {last} here", binding.role_name()));
            }
        }
    }
    if is_harmless(rbac, &escape.end) {
        finding.severity = Severity::Warning;
    }
    finding
}

fn who(escape: &EscapeChain<'_>) -> String {
    format!("ServiceAccount `{}`", escape.from)
}

fn how(step: &ChainStep<'_>) -> String {
    match step.by.method {
        Method::ServiceAccountName(kind) => format!("a {kind} can reference that account"),
        Method::Controller(kind) => format!("Flux uses its own account for a {kind} without an account"),
        Method::Workload(kind) => format!("a {kind} can run as that account"),
        Method::Impersonate => "with `impersonate`".to_owned(),
        Method::Token => "with a token that it can request".to_owned(),
        Method::TokenSecret => "with a Secret that Kubernetes fills with a token".to_owned(),
        Method::Bind => "with `bind`".to_owned(),
        Method::Escalate => "with `escalate`".to_owned(),
    }
}

fn reach(rbac: &Rbac, reach: &ChainEnd<'_>) -> String {
    match reach {
        ChainEnd::Everything => "every right on the cluster".to_owned(),
        ChainEnd::Namespace(namespace) => format!("every right in namespace `{namespace}`"),
        ChainEnd::Bindings(bindings) => {
            let all: Vec<&&Binding> = bindings.iter().filter(|binding| gives_everything(rbac, binding)).collect();
            let named = if all.is_empty() { bindings.iter().collect() } else { all };
            let one = |binding: &&&Binding| match &*binding.namespace {
                "" => format!("{} on the whole cluster", binding.role_name()),
                namespace => format!("{} in namespace `{namespace}`", binding.role_name()),
            };
            named.iter().map(one).collect::<Vec<_>>().join(" and ")
        }
    }
}

/// Returns whether a chain leads to all rights on the cluster.
fn is_everything(rbac: &Rbac, reach: &ChainEnd<'_>) -> bool {
    match reach {
        ChainEnd::Everything => true,
        ChainEnd::Namespace(_) => false,
        ChainEnd::Bindings(bindings) => {
            bindings.iter().any(|binding| binding.namespace.is_empty() && gives_everything(rbac, binding))
        }
    }
}

fn gives_everything(rbac: &Rbac, binding: &Binding) -> bool {
    rbac.rules(binding).any(|(rule, _)| rule.is_everything())
}

fn help(escape: &EscapeChain<'_>, tenant: &Tenant) -> &'static str {
    let leaves = escape.steps.iter().find(|step| match &step.to {
        Actor::Account(account) => !tenant.namespaces.contains(&account.namespace),
        _ => false,
    });
    if leaves.is_some_and(|step| !is_unnamed(step)) {
        return "grant the right only in the tenant's own namespaces: an account that can create such an object in a \
                namespace can act as the accounts there";
    }
    match escape.steps.first().map(|step| step.by.method) {
        Some(Method::Controller(_)) => {
            "lock Flux down with `multitenant: true` or `--default-service-account`, so that an object without an \
             account uses one of its namespace"
        }
        Some(Method::ServiceAccountName(_)) => {
            "move that account to a namespace of the platform, or add an admission policy that restricts \
             `serviceAccountName`"
        }
        Some(Method::Workload(_) | Method::Impersonate | Method::Token | Method::TokenSecret) => {
            "move that account to a namespace of the platform: a tenant can act as all accounts of its namespaces"
        }
        Some(Method::Bind | Method::Escalate) | None => "remove the verb from the role",
    }
}

/// Whether a chain only gives read access, except to Secrets, or only access to authentication and authorization
/// reviews.
fn is_harmless(rbac: &Rbac, reach: &ChainEnd<'_>) -> bool {
    let ChainEnd::Bindings(bindings) = reach else { return false };
    bindings.iter().flat_map(|binding| rbac.rules(binding)).all(|(rule, _)| {
        let reads = rule.verbs.iter().all(|verb| matches!(&**verb, "get" | "list" | "watch"));
        let asks = !rule.groups.is_empty()
            && rule.groups.iter().all(|group| matches!(&**group, "authentication.k8s.io" | "authorization.k8s.io"));
        (reads && !["secrets", "nodes/proxy"].iter().any(|what| rule.mentions("", what))) || asks
    })
}
