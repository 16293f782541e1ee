use std::collections::BTreeMap;
use std::ptr;

use crate::base::finding::{Finding, Label};
use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::tenants::{Tenant, Tenants};
use crate::lint::view::View;
use crate::rbac::{Binding, Request, Role, Rule};
use crate::text::Span;

declare! {
    /// A tenant's role grants what makes more of itself: to escalate, to bind, to impersonate, tokens of accounts, or
    /// everything by a wildcard.
    ///
    /// ## Why
    ///
    /// Kubernetes lets nobody give rights that he has not himself, unless a role says `escalate` or `bind`. Who may
    /// `impersonate`, or ask for tokens with `serviceaccounts/token`, acts as others. Who may write webhooks or admission
    /// policies sees and changes what others apply. A wildcard grants all of these, the quotas that
    /// bind the tenant, the Secrets of others, and whatever comes later.
    ///
    /// Silent about what the role `admin` grants in the tenant's own namespace, as it comes with Kubernetes. Bound
    /// elsewhere, it lets its holder act as accounts of others. A binding to `cluster-admin` is the rule
    /// `tenant-cluster-admin`'s.
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
    /// ## Source
    ///
    /// [Kubernetes: good practices for RBAC](https://kubernetes.io/docs/concepts/security/rbac-good-practices/)
    "rbac-escalation", Error, "a tenant's role grants what makes more of itself", Check::Cluster(check),
}

/// What makes more of itself: the verbs of it, the group and the resources, and what that is.
const POWERS: [(&[&str], &str, &[&str], &str); 5] = [
    (&["escalate"], groups::RBAC, &["roles", "clusterroles"], "write roles with more rights than its own"),
    (&["bind"], groups::RBAC, &["roles", "clusterroles"], "bind roles with more rights than its own"),
    (&["impersonate"], "", &["users", "groups", "serviceaccounts"], "act as others"),
    (&["create"], "", &["serviceaccounts/token"], "ask for tokens of accounts"),
    (
        &["create", "update", "patch"],
        "admissionregistration.k8s.io",
        &[
            "validatingwebhookconfigurations",
            "mutatingwebhookconfigurations",
            "validatingadmissionpolicies",
            "mutatingadmissionpolicies",
        ],
        "change how objects are admitted",
    ),
];

/// What the role `admin` has of these where it is bound.
const OF_ADMIN: [(&str, &str); 2] = [("impersonate", "serviceaccounts"), ("create", "serviceaccounts/token")];

/// What is found of a rule that somebody wrote, or of a binding to a shipped role.
struct Fault<'a> {
    at: &'a Span,
    role: &'a Role,
    powers: Vec<&'static str>,
    binding: &'a Binding,
    tenant: String,
    is_shipped: bool,
}

fn check(view: &View<'_>, found: &mut Findings) {
    let tenants = Tenants::of_cluster(view);
    let mut faults: BTreeMap<(String, usize), Fault<'_>> = BTreeMap::new();
    for (binding, _, tenant) in tenants.bindings(view) {
        for (rule, role) in view.rbac().rules(binding) {
            let is_shipped = rule.place.is_none();
            // What is bound is shipped: that is said where it is bound. That it is everything is another rule's.
            let Some(at) = rule.place.as_ref().or(binding.role.place.written()) else { continue };
            let powers = powers(rule, binding, tenant);
            if powers.is_empty() || (is_shipped && rule.is_everything()) {
                continue;
            }
            let file = at.file();
            let root = file.root().map(ToString::to_string).unwrap_or_default();
            let key = (format!("{root}/{}", file.path()), at.range().start);
            let fault = Fault { at, role, powers: Vec::new(), binding, tenant: tenant.called(), is_shipped };
            let fault = faults.entry(key).or_insert(fault);
            for power in powers {
                if !fault.powers.contains(&power) && (is_shipped || ptr::eq(fault.binding, binding)) {
                    fault.powers.push(power);
                }
            }
        }
    }
    for fault in faults.into_values() {
        found.push(finding(&fault));
    }
}

fn finding(fault: &Fault<'_>) -> Finding {
    let (role, binding) = (fault.role, fault.binding);
    if fault.is_shipped {
        let place = match &*binding.namespace {
            "" => "of any namespace".to_owned(),
            namespace => format!("of namespace `{namespace}`"),
        };
        let message = format!("{} lets {} {} {place}", binding.reference(), fault.tenant, fault.powers.join(", "));
        let help =
            "bind it by a RoleBinding in the tenant's own namespaces: the role is made for whoever owns a namespace";
        let label = format!("{} allows that", role.reference());
        return Finding::error(RULE.id, Label::new(fault.at.clone(), label), message)
            .help(help)
            .about(binding.object());
    }
    let message = format!("{} lets {} {}", role.reference(), fault.tenant, fault.powers.join(", "));
    let help = "list the groups, resources and verbs that it needs, without `*`, `escalate`, `bind` and `impersonate`";
    let mut finding = Finding::error(RULE.id, Label::new(fault.at.clone(), "this rule"), message).help(help);
    if let Some(span) = binding.place.written() {
        finding = finding.related(span.clone(), format!("bound by this {}", binding.kind()));
    }
    finding.about(role.object())
}

/// What a rule lets its holder do where it is bound, beyond what `admin` lets a tenant do in its own namespace.
fn powers(rule: &Rule, binding: &Binding, tenant: &Tenant) -> Vec<&'static str> {
    let is_own = tenant.namespaces.contains(&binding.namespace);
    if rule.is_everything() {
        return vec!["do everything"];
    }
    let is_given = |verb: &str, resource: &str| is_own && OF_ADMIN.contains(&(verb, resource));
    let allows = |verb: &str, group: &str, resource: &str| {
        let request = Request::new(verb, group, resource);
        rule.allows(&request) || rule.names.iter().any(|name| rule.allows(&request.named(name)))
    };
    let powers = POWERS.iter().filter(|(verbs, group, resources, _)| {
        // Webhooks, users and groups have no namespace: a RoleBinding gives nothing of them.
        let is_possible = |resource: &str| {
            let is_clusters = *group == "admissionregistration.k8s.io" || matches!(resource, "users" | "groups");
            binding.namespace.is_empty() || !is_clusters
        };
        verbs.iter().any(|verb| {
            let mut resources = resources.iter().filter(|resource| is_possible(resource) && !is_given(verb, resource));
            resources.any(|resource| allows(verb, group, resource))
        })
    });
    let mut powers: Vec<&'static str> = powers.map(|(_, _, _, what)| *what).collect();
    // What is listed is meant; a wildcard takes these along.
    let is_wild = rule.resources.iter().any(|resource| &**resource == "*");
    if is_wild && ["update", "patch", "delete"].iter().any(|verb| allows(verb, "", "resourcequotas")) {
        powers.push("change the quotas that bind it, by a wildcard");
    }
    if is_wild && !is_own && ["get", "list"].iter().any(|verb| allows(verb, "", "secrets")) {
        powers.push("read Secrets that are not its own, by a wildcard");
    }
    powers
}
