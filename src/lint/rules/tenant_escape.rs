use std::ptr;

use crate::base::finding::{Finding, Label, Severity};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::tenants::{Tenant, Tenants};
use crate::lint::view::View;
use crate::rbac::{Actor, Binding, ChainEnd, ChainStep, DefinedIn, EscapeChain, Grant, Method, Rbac};
use crate::text::Span;

declare! {
    /// A chain of grants and of Flux's impersonation leads a tenant to rights outside its namespaces.
    ///
    /// ## Why
    ///
    /// Flux applies a Kustomization, HelmRelease or ResourceSet as the account that it names, whichever account of the
    /// namespace that is. So whoever may bring such an object into a namespace, or change one that is there, acts as any
    /// account there, an operator's among them, and has what that account has. Lockdown does not change it: it only says
    /// which account is meant where none is named. Without lockdown, an object that names none is applied with the
    /// controller's own rights, which are those of a cluster admin. Workloads run as any account of their namespace,
    /// too; `impersonate`, tokens, `bind` and `escalate` do the rest.
    ///
    /// Each step is shown with its binding and role. Silent about chains that stay within the tenant's namespaces, about
    /// rights that the tenant's account has anyway, and where an admission policy that the cluster receives looks at
    /// `serviceAccountName` and may forbid a step, or one may come with what is not built, or with a chart of policies.
    /// That no lockdown is wanted (`tenancy.lockdown: none`) is accepted. A warning where all that is gained is to read,
    /// Secrets excepted, or to ask who somebody is and what he may do.
    ///
    /// ## How to fix it
    ///
    /// Move the account with the wide rights into a namespace of the platform. Or take away the right to bring such
    /// objects, or lay an admission policy over it that says which accounts they may name. Lock Flux down.
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
    /// ## Source
    ///
    /// [Flux: role-based access control](https://fluxcd.io/flux/components/kustomize/kustomizations/#role-based-access-control),
    /// [flux2#1829](https://github.com/fluxcd/flux2/issues/1829),
    /// [Kubernetes: workload creation](https://kubernetes.io/docs/concepts/security/rbac-good-practices/#workload-creation)
    "tenant-escape", Error, "a chain of grants leads a tenant to rights outside its namespaces", Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    let tenants = Tenants::of_cluster(view);
    if tenants.is_empty() {
        return;
    }
    let rbac = view.rbac();
    for tenant in tenants.iter() {
        let mut said: Vec<(Span, String)> = Vec::new();
        let mut escapes = rbac.escape_chains(&tenant.users, &tenant.namespaces);
        escapes.sort_by_key(|escape| !is_everything(rbac, &escape.end));
        for escape in escapes {
            if escape.forbidden_by().is_some() {
                found.unchecked("chains of rights that an admission policy may forbid");
                continue;
            }
            if let Some(who) = rbac
                .unknown_policy_source()
                .filter(|_| escape.steps.iter().any(|step| step.by.method.may_be_forbidden()))
            {
                found.unchecked(format!("chains of rights that a policy may forbid, which {who} may bring"));
                continue;
            }
            // That Flux is not locked down is accepted, with a reason.
            if view.tenancy().unlocked.is_some() && escape.steps.iter().any(|step| is_unnamed(step)) {
                continue;
            }
            let Some((at, kind)) = place_of(&escape).zip(kind(&escape, tenant)) else { continue };
            if said.contains(&(at.clone(), kind.clone())) {
                continue;
            }
            said.push((at.clone(), kind));
            found.push(finding(rbac, tenant, &escape, &at));
        }
    }
}

fn is_unnamed(step: &ChainStep<'_>) -> bool {
    matches!(step.by.method, Method::Controller(_))
}

/// Where a chain begins: the binding that allows its first step.
fn place_of(escape: &EscapeChain<'_>) -> Option<Span> {
    let grants = &escape.steps.first()?.by.grants;
    grants.iter().find_map(|grant| grant.binding.place.written()).cloned()
}

/// What tells faults apart that begin with one binding: in the tenant's own namespaces each account that chains lead to,
/// elsewhere each namespace. Controllers that act as themselves are one fault: Flux is not locked down.
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
    let message =
        format!("{} of {} may act as {}, and so has {reach}", who(escape), tenant.called(), through.join(", then as "));
    let mut finding =
        Finding::error(RULE.id, Label::new(at.clone(), "it begins here"), message).help(help(escape, tenant));
    for step in &escape.steps {
        let by = how(step);
        for (at_grant, grant) in step.by.grants.iter().enumerate() {
            let is_said = |other: &Grant<'_>| ptr::eq(other.rule, grant.rule) && ptr::eq(other.binding, grant.binding);
            if step.by.grants.iter().take(at_grant).any(is_said) {
                continue;
            }
            if let Some(span) = grant.binding.place.written().filter(|span| *span != at) {
                finding = finding.related(span.clone(), format!("`{}` is bound here", step.who));
            }
            let said = format!("{} lets `{}` act as {}: {by}", grant.from.reference(), step.who, step.to);
            match (&grant.rule.place, &grant.role.place) {
                (Some(span), _) | (None, DefinedIn::Written(span)) => finding = finding.related(span.clone(), said),
                (None, DefinedIn::Shipped(_)) => {
                    finding = finding.related(grant.binding.role.place.written().unwrap_or(at).clone(), said);
                }
            }
        }
    }
    if let ChainEnd::Bindings(bindings) = &escape.end {
        for binding in bindings {
            if let Some(span) = binding.place.written() {
                let last = escape.steps.last().map(|step| step.to.to_string()).unwrap_or_default();
                finding = finding.related(span.clone(), format!("{} is given to {last} here", binding.role_name()));
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
        Method::ServiceAccountName(kind) => format!("a {kind} may name that account"),
        Method::Controller(kind) => format!("for a {kind} that names no account Flux acts as itself"),
        Method::Workload(kind) => format!("a {kind} may run as it"),
        Method::Impersonate => "by impersonation".to_owned(),
        Method::Token => "by a token that it may ask for".to_owned(),
        Method::TokenSecret => "by a Secret in which Kubernetes puts a token".to_owned(),
        Method::Bind => "by `bind`".to_owned(),
        Method::Escalate => "by `escalate`".to_owned(),
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

/// Whether a chain leads to everything on the cluster.
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
        return "give the right in the tenant's own namespaces alone: who may bring such an object into a namespace acts as \
                the accounts there";
    }
    match escape.steps.first().map(|step| step.by.method) {
        Some(Method::Controller(_)) => {
            "lock Flux down with `multitenant: true`, or `--default-service-account`, so that what names no account acts \
             as one of its namespace"
        }
        Some(Method::ServiceAccountName(_)) => {
            "move that account into a namespace of the platform, or let an admission policy say which accounts may be \
             named in `serviceAccountName`"
        }
        Some(Method::Workload(_) | Method::Impersonate | Method::Token | Method::TokenSecret) => {
            "move that account into a namespace of the platform: who works in a namespace may act as its accounts"
        }
        Some(Method::Bind | Method::Escalate) | None => "take the verb out of the role",
    }
}

/// Whether all that is gained is to read, Secrets excepted, or to ask the API server who somebody is and what he may do.
fn is_harmless(rbac: &Rbac, reach: &ChainEnd<'_>) -> bool {
    let ChainEnd::Bindings(bindings) = reach else { return false };
    bindings.iter().flat_map(|binding| rbac.rules(binding)).all(|(rule, _)| {
        let reads = rule.verbs.iter().all(|verb| matches!(&**verb, "get" | "list" | "watch"));
        let asks = !rule.groups.is_empty()
            && rule.groups.iter().all(|group| matches!(&**group, "authentication.k8s.io" | "authorization.k8s.io"));
        (reads && !["secrets", "nodes/proxy"].iter().any(|what| rule.mentions("", what))) || asks
    })
}
