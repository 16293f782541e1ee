mod repository;

use std::collections::BTreeMap;
use std::ptr;

use self::repository::check_repositories;
use crate::base::finding::{Finding, Label, Severity};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::rbac::{
    Account, Actor, Binding, ChainEnd, ChainStep, DefinedIn, Escape, EscapeChain, Grant, Method, Product, Rbac, Tenant,
};
use crate::text::Span;
use crate::yaml::Name;

declare! {
    /// A chain of grants and of Flux impersonation gives a tenant rights outside its namespaces.
    ///
    /// ## Why
    ///
    /// Flux applies a Kustomization, HelmRelease or ResourceSet as the account in `serviceAccountName`, which can be
    /// any account of the namespace. Therefore, an account that can create or change such an object in a namespace can
    /// act as every account of that namespace, with all of its rights. One of these may be the account of an operator.
    /// A right to read the Secrets of every namespace, or to run commands in every pod, also leaves the namespaces. So does
    /// a right to change a source or a FluxInstance whose content Flux applies as another account, and a right to request
    /// and approve client certificates.
    ///
    /// A lockdown does not prevent this, since it only sets the account of an object without `serviceAccountName`.
    /// Without a lockdown, Flux applies an object without `serviceAccountName` with the rights of the controller, which
    /// are the rights of a cluster admin. Workloads can also run as any account of their namespace. `impersonate`,
    /// tokens, `bind` and `escalate` allow further steps.
    ///
    /// A tenant also leaves its namespaces if an object of the platform, such as a Kustomization in `flux-system`, applies the
    /// tenant's repository with all rights: a repository from which a Kustomization of the tenant builds as the tenant's
    /// account. With `--since`, the repositories and directories of the tenants of the earlier revision count too, since a
    /// change may move or remove the objects of a tenant. The severity is warning if the object applies other directories of
    /// the repository, or only verified commits. A commit or digest in the source is silent, since no push changes it.
    ///
    /// The finding shows each step with its binding and its role. The rule ignores:
    ///
    /// - chains that stay within the namespaces of the tenant
    /// - rights that the account of the tenant already has
    /// - the missing lockdown of Flux's controllers, which `lockdown-missing` reports, or that the configuration
    ///   accepts with a reason in `tenancy.lockdown`
    /// - the identity of a controller, if the repository does not contain the installation of Flux, since an extension
    ///   of a cloud provider may lock Flux down
    ///
    /// The rule reports the accounts of a tenant's own namespaces in one finding for each binding that grants access to
    /// them. A namespace of Kubernetes or Flux, such as `kube-system`, contains accounts with all rights. A tenant with
    /// such a namespace controls the cluster.
    ///
    /// The severity is warning if the chain gives only read access, except to Secrets, or only access to authentication
    /// and authorization reviews. It is also warning for the Secrets of the namespace of Flux alone, or if a policy may
    /// forbid the chain: a policy of the cluster whose checks mention `serviceAccountName` or, for a source, `url`, or a
    /// policy in an unbuilt input or in a chart of policies. The linter evaluates policies of Kubernetes, Kyverno and
    /// Gatekeeper for the creation of a Flux object with the account. A policy that certainly admits the object, for example
    /// since it excludes the namespace or is always true, forbids nothing.
    ///
    /// ## How to fix it
    ///
    /// Move the account with the wide rights to a namespace of the platform. Alternatively, remove the right to create
    /// such objects, or add an admission policy that restricts `serviceAccountName`. Enable the multi-tenancy lockdown
    /// of Flux.
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
    check_repositories(view, RULE.id, found);
    let tenants = view.tenants();
    if tenants.is_empty() {
        return;
    }
    let rbac = view.rbac();
    let is_lockdown_known = view.shows_controllers();
    // `lockdown-missing` reports the controllers once for all tenants.
    let has_tenant = |namespace: &String| !view.namespace(namespace).is_missing();
    let is_told =
        view.tenancy().multi_tenant && view.receiver.target.is_none() && view.tenancy().tenants.keys().any(has_tenant);
    for tenant in tenants.iter() {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for escape in tenant.escapes(rbac) {
            let Escape { chain, doubt } = escape;
            if let Some(doubt) = &doubt {
                found.unchecked(format!("chains of grants that {doubt}"));
            }
            if chain.steps.iter().any(is_unnamed) {
                // The configuration accepts the missing lockdown with a reason.
                if view.tenancy().unlocked.is_some() {
                    continue;
                }
                if !is_lockdown_known {
                    found.unchecked("the arguments of the Flux controllers");
                    continue;
                }
                if is_told && chain.steps.iter().any(is_of_flux) {
                    continue;
                }
            }
            let Some((at, cause)) = place_of(&chain).zip(cause(&chain, tenant)) else { continue };
            let is_same = |group: &&mut Group<'_>| group.at == at && group.cause == cause && group.doubt == doubt;
            match groups.iter_mut().find(is_same) {
                Some(group) => group.chains.push(chain),
                None => groups.push(Group { at, cause, doubt, chains: vec![chain] }),
            }
        }
        for Group { at, doubt, mut chains, .. } in groups {
            if chains.len() > 1 {
                // The accounts of a namespace without own bindings have one rank.
                let mut of_namespaces: BTreeMap<Name, u8> = BTreeMap::new();
                chains.sort_by_cached_key(|chain| match chain.steps.last().map(|step| &step.to) {
                    Some(Actor::Account(account)) if rbac.has_rights_of_namespace(account) => {
                        let rank = || rank(rbac, chain);
                        *of_namespaces.entry(account.namespace.clone()).or_insert_with(rank)
                    }
                    _ => rank(rbac, chain),
                });
            }
            let finding = finding(rbac, tenant, &chains, &at);
            found.extend(finding.map(|finding| match doubt {
                // A pull request can add a policy, or a source without a copy.
                Some(doubt) => {
                    let help = finding.help.clone().unwrap_or_default();
                    let finding = Finding { severity: Severity::Warning, ..finding };
                    finding.help(format!("{help}; {doubt} this, but the repository does not prove it"))
                }
                None => finding,
            }));
        }
    }
}

/// The chains with one cause.
struct Group<'a> {
    at: Span,
    cause: String,
    /// The unknown policy that may forbid the chains.
    doubt: Option<String>,
    chains: Vec<EscapeChain<'a>>,
}

/// The rank of a chain among the chains with the same cause. The chain with the most rights comes first.
fn rank(rbac: &Rbac, chain: &EscapeChain<'_>) -> u8 {
    if is_everything(rbac, &chain.end) {
        return 0;
    }
    let leads_on = |account: &Account| {
        let all = rbac.impersonations(account);
        all.iter().any(|one| match &one.to {
            Actor::AllAccounts | Actor::AnyUser => true,
            Actor::Raised(namespace) => namespace.is_empty(),
            _ => false,
        })
    };
    match chain.steps.last().map(|step| &step.to) {
        Some(Actor::Account(account)) if leads_on(account) => 1,
        _ if is_harmless(rbac, &chain.end) => 3,
        _ => 2,
    }
}

fn is_unnamed(step: &ChainStep<'_>) -> bool {
    matches!(step.by.method, Method::Controller(_))
}

/// Returns whether a step uses the account of a controller that the lockdown of Flux restricts.
///
/// The lockdown does not restrict Flux Operator.
fn is_of_flux(step: &ChainStep<'_>) -> bool {
    matches!(step.by.method, Method::Controller(kind) if is_kind_of_flux(kind))
}

/// Returns whether a controller of Flux, and not Flux Operator, reconciles a kind.
fn is_kind_of_flux(kind: &str) -> bool {
    matches!(kind, "Kustomization" | "HelmRelease")
}

/// The position of the start of a chain: the binding that allows its first step.
fn place_of(escape: &EscapeChain<'_>) -> Option<Span> {
    let grants = &escape.steps.first()?.by.grants;
    grants.iter().find_map(|grant| grant.binding.place.written()).cloned()
}

/// The key that separates the faults of one binding.
///
/// The accounts of the tenant's own namespaces have one key, since the tenant can act as all of them. For accounts of
/// other namespaces, the key is the namespace. All controllers that use their own account have one key, since Flux is
/// not locked down.
fn cause(escape: &EscapeChain<'_>, tenant: &Tenant) -> Option<String> {
    let last = escape.steps.last()?;
    Some(match (last.by.method, &last.to) {
        (Method::Controller(_), _) => "unnamed".to_owned(),
        (_, Actor::Account(account)) if tenant.namespaces.contains(&account.namespace) => String::new(),
        (_, Actor::Account(account)) => account.namespace.to_string(),
        (_, to) => to.to_string(),
    })
}

/// The maximum number of further accounts that a finding shows.
const MAX_SHOWN: usize = 3;

/// Returns the finding for the chains with one cause. The first chain has the most rights.
fn finding(rbac: &Rbac, tenant: &Tenant, chains: &[EscapeChain<'_>], at: &Span) -> Option<Finding> {
    let (escape, others) = chains.split_first()?;
    // For accounts of other namespaces, the finding shows only one account as an example.
    let is_own = |chain: &&EscapeChain<'_>| cause(chain, tenant).is_some_and(|cause| cause.is_empty());
    let others: Vec<&EscapeChain<'_>> = others.iter().filter(is_own).collect();
    let reach = reach(rbac, &escape.end);
    let through: Vec<String> = escape.steps.iter().map(|step| step.to.to_string()).collect();
    let more = match others.len() {
        0 => String::new(),
        1 => " (and as another account of the tenant's namespaces)".to_owned(),
        count => format!(" (and as {count} other accounts of the tenant's namespaces)"),
    };
    let (from, tenant_name) = (who(escape), tenant.called());
    let message = match (&escape.end, through.split_last()) {
        (ChainEnd::Secrets(_), Some((_, [])) | None) => format!("{from} of {tenant_name} can read {reach}"),
        (ChainEnd::Secrets(_), Some((_, through))) => {
            format!("{from} of {tenant_name} can act as {}, and then read {reach}", through.join(", then as "))
        }
        _ => format!("{from} of {tenant_name} can act as {}{more}, and then has {reach}", through.join(", then as ")),
    };
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
    for (place, label) in ends(escape) {
        finding = finding.related(place, label);
    }
    let written: Vec<(Span, String)> = others.iter().flat_map(|other| ends(other).into_iter().take(1)).collect();
    let hidden = written.len().saturating_sub(MAX_SHOWN);
    for (number, (place, mut label)) in written.into_iter().take(MAX_SHOWN).enumerate() {
        if hidden > 0 && number + 1 == MAX_SHOWN {
            label = match hidden {
                1 => format!("{label}; one more binding has the same effect"),
                _ => format!("{label}; {hidden} more bindings have the same effect"),
            };
        }
        finding = finding.related(place, label);
    }
    // A credential of Flux may only read public sources.
    let is_of_flux = matches!(&escape.end, ChainEnd::Secrets(namespace) if !namespace.is_empty());
    if is_of_flux || is_harmless(rbac, &escape.end) {
        finding.severity = Severity::Warning;
    }
    Some(finding)
}

/// The written bindings at the end of a chain, each with a label.
fn ends(escape: &EscapeChain<'_>) -> Vec<(Span, String)> {
    let ChainEnd::Bindings(bindings) = &escape.end else { return Vec::new() };
    let last = escape.steps.last().map(|step| step.to.to_string()).unwrap_or_default();
    let written = bindings.iter().filter_map(|binding| Some((binding, binding.place.written()?)));
    written.map(|(binding, span)| (span.clone(), format!("{} is bound to {last} here", binding.role_name()))).collect()
}

fn who(escape: &EscapeChain<'_>) -> String {
    format!("ServiceAccount `{}`", escape.from)
}

fn how(step: &ChainStep<'_>) -> String {
    match step.by.method {
        Method::ServiceAccountName(kind) => format!("a {kind} can reference that account"),
        Method::Controller(kind) => format!("Flux uses its own account for a {kind} without `serviceAccountName`"),
        Method::Workload(kind) => format!("a {kind} can run as that account"),
        Method::Impersonate => "with `impersonate`".to_owned(),
        Method::Token => "with a token that it can request".to_owned(),
        Method::TokenSecret => "with a Secret that Kubernetes fills with a token".to_owned(),
        Method::Bind => "with `bind`".to_owned(),
        Method::Escalate => "with `escalate`".to_owned(),
        Method::Command(resource) => format!("with commands in its pods, through `{resource}`"),
        Method::ReadSecrets => "with the verbs that read Secrets".to_owned(),
        Method::Content(kind) => format!("a change of a {kind} decides what Flux applies as that account"),
        Method::Certificate => "with a client certificate that it requests and approves".to_owned(),
    }
}

fn reach(rbac: &Rbac, reach: &ChainEnd<'_>) -> String {
    match reach {
        ChainEnd::Everything => "every right on the cluster".to_owned(),
        ChainEnd::Namespace(namespace) => format!("every right in namespace `{namespace}`"),
        ChainEnd::Secrets(namespace) if namespace.is_empty() => "the Secrets of every namespace".to_owned(),
        ChainEnd::Secrets(namespace) => {
            format!("the Secrets of namespace `{namespace}`, with the credentials of Flux")
        }
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
        ChainEnd::Namespace(_) | ChainEnd::Secrets(_) => false,
        ChainEnd::Bindings(bindings) => {
            bindings.iter().any(|binding| binding.namespace.is_empty() && gives_everything(rbac, binding))
        }
    }
}

fn gives_everything(rbac: &Rbac, binding: &Binding) -> bool {
    rbac.rules(binding).any(|(rule, _)| rule.is_everything())
}

fn help(escape: &EscapeChain<'_>, tenant: &Tenant) -> String {
    if let Some((namespace, by)) = shipped_end(escape, tenant) {
        return format!(
            "give the tenant another namespace: namespace `{namespace}` contains accounts of {by}, and an account that \
             can create workloads or Flux objects in a namespace can act as all accounts there"
        );
    }
    advice(escape, tenant).to_owned()
}

/// The tenant's namespace with the account at the end of a chain, if Kubernetes or Flux creates that account.
fn shipped_end(escape: &EscapeChain<'_>, tenant: &Tenant) -> Option<(Name, Product)> {
    let (ChainEnd::Bindings(bindings), Some(last)) = (&escape.end, escape.steps.last()) else { return None };
    let Actor::Account(account) = &last.to else { return None };
    let is_own = tenant.namespaces.contains(&account.namespace) || account.namespace == escape.from.namespace;
    let by = bindings.iter().find_map(|binding| match binding.place {
        DefinedIn::Shipped(by) => Some(by),
        DefinedIn::Written(_) => None,
    });
    by.filter(|_| is_own && !is_unnamed(last)).map(|by| (account.namespace.clone(), by))
}

fn advice(escape: &EscapeChain<'_>, tenant: &Tenant) -> &'static str {
    let leaves = escape.steps.iter().find(|step| match &step.to {
        Actor::Account(account) => !tenant.namespaces.contains(&account.namespace),
        _ => false,
    });
    if leaves.is_some_and(|step| !is_unnamed(step)) {
        return "grant the right only in the tenant's own namespaces: with this right, an account can act as other \
                accounts of a namespace";
    }
    match escape.steps.first().map(|step| step.by.method) {
        Some(Method::Controller(kind)) if !is_kind_of_flux(kind) => {
            "set `multitenancy.enabled: true` and `multitenancy.defaultServiceAccount` in the values of the chart \
             `flux-operator`, or remove the verb from the role: the lockdown of Flux does not restrict Flux Operator"
        }
        Some(Method::Controller(_)) => {
            "lock Flux down with `multitenant: true` or `--default-service-account`, so that Flux applies an object \
             without `serviceAccountName` as an account of the object's namespace"
        }
        Some(Method::ServiceAccountName(_)) => {
            "move that account to a namespace of the platform, or add an admission policy that restricts \
             `serviceAccountName`"
        }
        Some(Method::Workload(_) | Method::Impersonate | Method::Token | Method::TokenSecret) => {
            "move that account to a namespace of the platform: a tenant can act as all accounts of its namespaces"
        }
        Some(Method::Command(_) | Method::ReadSecrets) => {
            "grant the right only in the tenant's own namespaces: the Secrets and pods of other namespaces contain the \
             credentials of Flux and of other tenants"
        }
        Some(Method::Content(_)) => {
            "grant the right only for sources that the tenant's own objects use: the content of the source decides what \
             Flux applies"
        }
        Some(Method::Bind | Method::Escalate | Method::Certificate) | None => "remove the verb from the role",
    }
}

/// Returns whether a chain gives only read access, except to Secrets, or only access to API groups for reviews.
fn is_harmless(rbac: &Rbac, reach: &ChainEnd<'_>) -> bool {
    let ChainEnd::Bindings(bindings) = reach else { return false };
    bindings.iter().flat_map(|binding| rbac.rules(binding)).all(|(rule, _)| {
        let reads = rule.verbs.iter().all(|verb| matches!(&**verb, "get" | "list" | "watch"));
        let asks = !rule.groups.is_empty()
            && rule.groups.iter().all(|group| matches!(&**group, "authentication.k8s.io" | "authorization.k8s.io"));
        (reads && !["secrets", "nodes/proxy"].iter().any(|what| rule.mentions("", what))) || asks
    })
}
