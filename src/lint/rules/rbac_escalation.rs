use std::collections::BTreeMap;
use std::ptr;

use crate::base::finding::{Finding, Label, Severity};
use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::rbac::{Actor, Binding, Method, Request, Role, Rule, Tenant, Tenants, identities};
use crate::text::Span;

declare! {
    /// A role of a tenant allows escalation: with `escalate`, `bind` or `impersonate`, tokens of accounts, or a
    /// wildcard.
    ///
    /// ## Why
    ///
    /// Kubernetes prevents an account from granting permissions that it does not have, unless a role contains
    /// `escalate` or `bind`. An account with `impersonate`, or with `create` on `serviceaccounts/token`, can act as
    /// other accounts. An account that can write webhooks or admission policies can read and change the objects of
    /// other accounts. A wildcard grants all of these permissions. It also grants access to the quotas of the tenant,
    /// to the Secrets of other accounts, and to each new resource type.
    ///
    /// The rule ignores the permission to act as an account of the tenant's own namespaces, which the built-in role
    /// `admin` contains, and `impersonate` for the tenant's own names. In another namespace, `admin` allows its holder
    /// to act as other accounts. If these accounts have further permissions, `tenant-escape` reports the binding. The
    /// rule `tenant-cluster-admin` reports roles with all permissions, such as `cluster-admin`.
    ///
    /// The severity is pedantic for an account that Flux does not impersonate, in a namespace whose tenant nothing names: the
    /// account belongs to a program, whose vendor wrote the role. It is warning if a wildcard only grants access to the quotas
    /// of the tenant's own namespace.
    ///
    /// ## How to fix it
    ///
    /// List the groups, resources and verbs that the tenant needs.
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
    /// kind: Role
    /// metadata:
    ///   name: deployer
    ///   namespace: backend
    /// rules:
    ///   - apiGroups: [rbac.authorization.k8s.io]
    ///     resources: [roles, rolebindings]
    ///     verbs: ["*"]
    /// ---
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: RoleBinding
    /// metadata:
    ///   name: flux
    ///   namespace: backend
    /// roleRef:
    ///   apiGroup: rbac.authorization.k8s.io
    ///   kind: Role
    ///   name: deployer
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
    /// kind: Role
    /// metadata:
    ///   name: deployer
    ///   namespace: backend
    /// rules:
    ///   - apiGroups: [rbac.authorization.k8s.io]
    ///     resources: [roles, rolebindings]
    ///     verbs: [get, list, watch, create, update, patch, delete]
    /// ---
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: RoleBinding
    /// metadata:
    ///   name: flux
    ///   namespace: backend
    /// roleRef:
    ///   apiGroup: rbac.authorization.k8s.io
    ///   kind: Role
    ///   name: deployer
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Kubernetes: good practices for RBAC](https://kubernetes.io/docs/concepts/security/rbac-good-practices/)
    "rbac-escalation", Error, "a role of a tenant allows the tenant to extend its own permissions", Check::Cluster(check),
}

/// The description of a wildcard that includes the quotas of a namespace.
const OWN_QUOTAS: &str = "change its own quotas through a wildcard";

/// The permissions that allow escalation: verbs, group, resources, and a description.
const POWERS: [(&[&str], &str, &[&str], &str); 3] = [
    (&["escalate"], groups::RBAC, &["roles", "clusterroles"], "write roles with more permissions than its own"),
    (&["bind"], groups::RBAC, &["roles", "clusterroles"], "bind roles with more permissions than its own"),
    (
        &["create", "update", "patch"],
        "admissionregistration.k8s.io",
        &[
            "validatingwebhookconfigurations",
            "mutatingwebhookconfigurations",
            "validatingadmissionpolicies",
            "mutatingadmissionpolicies",
        ],
        "change the admission of objects",
    ),
];

/// A fault in a rule of the repository, or in a binding to a built-in role.
struct Fault<'a> {
    at: &'a Span,
    role: &'a Role,
    powers: Vec<&'static str>,
    binding: &'a Binding,
    tenant: String,
    is_shipped: bool,
    /// Whether the subjects are accounts of programs in namespaces that only look like a tenant's.
    is_of_programs: bool,
    /// Whether the bindings are in the tenant's own namespaces.
    is_own: bool,
}

fn check(view: &View<'_>, found: &mut Findings) {
    let tenants = view.tenants();
    // Without tenants, the rule does not need the rights, which are expensive to compute.
    if tenants.is_empty() {
        return;
    }
    let mut faults: BTreeMap<(String, usize), Fault<'_>> = BTreeMap::new();
    for (binding, bound, tenant) in tenants.bindings(view.rbac()) {
        let is_impersonated = bound.subject.account().is_none_or(|account| tenant.users.contains(&account));
        let is_of_programs = tenant.name.is_none() && !is_impersonated;
        for (rule, role) in view.rbac().rules(binding) {
            let is_shipped = rule.place.is_none();
            // A built-in role has no position, so its finding is at the binding.
            let Some(at) = rule.place.as_ref().or(binding.role.place.written()) else { continue };
            let powers = powers(rule, binding, tenant);
            if powers.is_empty() {
                continue;
            }
            let file = at.file();
            let root = file.root().map(ToString::to_string).unwrap_or_default();
            let key = (format!("{root}/{}", file.path()), at.range().start);
            let is_own = tenant.namespaces.contains(&binding.namespace);
            let tenant = tenant.called();
            let fault = Fault { at, role, powers: Vec::new(), binding, tenant, is_shipped, is_of_programs, is_own };
            let fault = faults.entry(key).or_insert(fault);
            fault.is_of_programs &= is_of_programs;
            fault.is_own &= is_own;
            for power in powers {
                if !fault.powers.contains(&power) && (is_shipped || ptr::eq(fault.binding, binding)) {
                    fault.powers.push(power);
                }
            }
        }
    }
    // `tenant-escape` reports a chain that starts with the binding, and states the rights of the accounts.
    let has_shipped = faults.values().any(|fault| fault.is_shipped);
    let starts = if has_shipped { chain_starts(view, tenants) } else { Vec::new() };
    for fault in faults.into_values() {
        if !(fault.is_shipped && starts.iter().any(|start| ptr::eq(*start, fault.binding))) {
            let mut finding = finding(&fault);
            // The tenant stays in its namespaces.
            let is_own_quota = fault.powers == [OWN_QUOTAS] && fault.is_own;
            // Vendors write the roles of programs, such as the controllers of a platform, and Flux does not use their accounts.
            if fault.is_of_programs {
                finding.severity = Severity::Pedantic;
            } else if is_own_quota {
                finding.severity = Severity::Warning;
            }
            found.push(finding);
        }
    }
}

/// The bindings at the start of the chains that `tenant-escape` reports.
fn chain_starts<'a>(view: &'a View<'_>, tenants: &Tenants) -> Vec<&'a Binding> {
    let escapes = tenants.iter().flat_map(|tenant| tenant.escapes(view.rbac()));
    let certain = escapes.filter(|escape| escape.doubt.is_none());
    let first = certain.filter_map(|escape| escape.chain.steps.into_iter().next());
    first.filter_map(|step| step.by.grants.first().map(|grant| grant.binding)).collect()
}

fn finding(fault: &Fault<'_>) -> Finding {
    let (role, binding) = (fault.role, fault.binding);
    if fault.is_shipped {
        let place = match &*binding.namespace {
            "" => "in any namespace".to_owned(),
            namespace => format!("in namespace `{namespace}`"),
        };
        let powers = fault.powers.join(" and ");
        let message = format!("{} allows {} to {powers} {place}", binding.reference(), fault.tenant);
        let help = "bind the role with a RoleBinding in the tenant's own namespaces: it is intended for the owner of a \
                    namespace";
        let label = format!("{} contains these permissions", role.reference());
        return Finding::error(RULE.id, Label::new(fault.at.clone(), label), message)
            .help(help)
            .about(binding.object());
    }
    let message = format!("{} allows {} to {}", role.reference(), fault.tenant, fault.powers.join(" and "));
    let help = "list the groups, resources and verbs that the tenant needs, without `*`, `escalate`, `bind` and \
                `impersonate`";
    let mut finding = Finding::error(RULE.id, Label::new(fault.at.clone(), "this rule"), message).help(help);
    if let Some(span) = binding.place.written() {
        finding = finding.related(span.clone(), format!("bound by this {}", binding.kind()));
    }
    let before = format!("{} allows {} to extend its own permissions with ", role.reference(), fault.tenant);
    let finding = finding.about(role.object()).caused_by(role.reference(), before, " rules");
    finding.with_faults([(fault.at.clone(), format!("{} {}", fault.tenant, fault.powers.join(" and ")))])
}

/// The permissions of a rule that allow escalation, without the rights over the tenant's own accounts.
fn powers(rule: &Rule, binding: &Binding, tenant: &Tenant) -> Vec<&'static str> {
    let is_own = tenant.namespaces.contains(&binding.namespace);
    // `tenant-cluster-admin` reports these rules.
    if rule.is_everything() {
        return Vec::new();
    }
    let allows = |verb: &str, group: &str, resource: &str| {
        let request = Request::new(verb, group, resource);
        rule.allows(&request) || rule.names.iter().any(|name| rule.allows(&request.named(name)))
    };
    let powers = POWERS.iter().filter(|(verbs, group, resources, _)| {
        // Webhooks are cluster-scoped, so a RoleBinding does not grant access to them.
        let is_possible = binding.namespace.is_empty() || *group != "admissionregistration.k8s.io";
        is_possible && verbs.iter().any(|verb| resources.iter().any(|resource| allows(verb, group, resource)))
    });
    let mut powers: Vec<&'static str> = powers.map(|(_, _, _, power)| *power).collect();
    for (to, method) in identities(rule, &binding.namespace) {
        let power = if method == Method::Token { "request tokens of accounts" } else { "act as other accounts" };
        if !is_of_tenant(&to, tenant) && !powers.contains(&power) {
            powers.push(power);
        }
    }
    // A listed resource is intentional, but a wildcard includes these resources as a side effect.
    let is_wild = rule.resources.iter().any(|resource| &**resource == "*");
    if is_wild && ["update", "patch", "delete"].iter().any(|verb| allows(verb, "", "resourcequotas")) {
        powers.push(OWN_QUOTAS);
    }
    if is_wild && !is_own && ["get", "list"].iter().any(|verb| allows(verb, "", "secrets")) {
        powers.push("read the Secrets of other accounts through a wildcard");
    }
    powers
}

/// Returns whether an identity belongs to a tenant: one of its accounts, or the accounts of its namespaces.
fn is_of_tenant(identity: &Actor, tenant: &Tenant) -> bool {
    match identity {
        Actor::Account(account) => tenant.namespaces.contains(&account.namespace) || tenant.users.contains(account),
        Actor::AccountsOf(namespace) => tenant.namespaces.contains(namespace),
        _ => false,
    }
}
