use crate::base::finding::{Finding, Severity};
use crate::flux::{Applied, ApplierKind, is_kustomization, is_of_bootstrap, is_resource_set};
use crate::kube::{Object, groups};
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, missing_in_spec};

declare! {
    /// A Kustomization, HelmRelease or ResourceSet has no `serviceAccountName`.
    ///
    /// ## Why
    ///
    /// Without lockdown Flux then applies with its own rights, which are those of a cluster admin: whoever writes to
    /// the tenant's repository owns the cluster. Under lockdown it falls back on a default account that may do
    /// nothing, and the reconciliation fails.
    ///
    /// Error where tenants share the cluster, pedantic elsewhere. Platform namespaces count only under lockdown. Silent
    /// where the lockdown's default account is bound in that namespace, where a patch on the way sets the account, with
    /// `kubeConfig`, whose identity acts on the other cluster, and for a platform's ResourceSet under a lockdown: the
    /// operator has a default account of its own.
    ///
    /// A label `toolkit.fluxcd.io/tenant` alone makes no tenant of a namespace whose releases the platform writes, where
    /// nothing on the cluster confines anybody: neither a lockdown nor an account with a RoleBinding.
    ///
    /// ## How to fix it
    ///
    /// Give the tenant's namespace a ServiceAccount and a RoleBinding, and name it in `spec.serviceAccountName`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: backend
    ///   labels:
    ///     toolkit.fluxcd.io/tenant: apps
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
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: apps
    ///   targetNamespace: backend
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: backend
    ///   labels:
    ///     toolkit.fluxcd.io/tenant: apps
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
    ///   targetNamespace: backend
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: multi-tenancy lockdown](https://fluxcd.io/flux/installation/configuration/multitenancy/)
    "missing-service-account", Error, "a Kustomization, HelmRelease or ResourceSet names no account to act as",
    Check::Object(check),
}

fn check(applied: &Applied<'_>, context: Context<'_>, found: &mut Findings) {
    let Some(finding) = judge(applied, context) else { return };
    // Whoever applies it from elsewhere decides its namespace, and with it as whom Flux acts.
    let is_open = applied.by.kind == ApplierKind::Folder && applied.namespace().is_none();
    // Who locks Flux down mostly gives its operator an account to fall back on, which only the values of its chart tell.
    let is_of_operator = is_resource_set(applied.object) && context.tenancy.lockdown.is_some();
    let is_pedantic = finding.severity == Severity::Pedantic;
    if is_pedantic && is_open {
        found.unchecked("as whom Flux acts where the namespace is decided elsewhere");
    } else if is_pedantic && is_of_operator {
        found.unchecked("as whom Flux Operator applies a ResourceSet that names no account");
    } else {
        found.push(finding);
    }
}

fn judge(applied: &Applied<'_>, context: Context<'_>) -> Option<Finding> {
    let object = applied.object;
    if !is_judged(object) || applied.completion.mentions("serviceAccountName") {
        return None;
    }
    let named = object.text_at(&["spec", "serviceAccountName"]).is_some_and(|name| !name.is_empty());
    if named || object.node.at_keys(&["spec", "kubeConfig"]).is_some() {
        return None;
    }
    let tenancy = context.tenancy;
    let namespace = applied.namespace();
    let controller = controller(object);
    if namespace.is_some_and(|namespace| tenancy.default_account_works(controller, namespace)) {
        return None;
    }
    let is_tenant = namespace.is_some_and(|namespace| tenancy.tenants.contains_key(namespace));
    let default = tenancy.default_account(controller).filter(|_| namespace.is_some());
    let locked = default.is_some();
    // What `flux bootstrap` and a FluxInstance write for the cluster itself is meant to act as the controller, as long as
    // it may.
    if !locked && (is_of_bootstrap(object) || applied.by.kind == ApplierKind::FluxInstance) {
        return None;
    }
    let severity = if tenancy.multi_tenant && (is_tenant || locked) { Severity::Error } else { Severity::Pedantic };
    let message = format!("{} has no `spec.serviceAccountName`", object.reference());
    let account = match namespace {
        Some(namespace) => format!("a ServiceAccount of namespace `{namespace}`"),
        None => "a ServiceAccount of its namespace".to_string(),
    };
    let why = match default {
        Some(default) => format!("without it Flux acts as `{default}`, which no binding in that namespace serves"),
        None => "without it Flux applies with its own rights".to_string(),
    };
    let tenant = namespace.and_then(|namespace| tenancy.tenants.get(namespace)).and_then(Option::as_deref);
    let whose = tenant.map_or_else(String::new, |tenant| format!(", and the namespace is tenant `{tenant}`'s"));
    let mut finding = Finding::error(RULE.id, missing_in_spec(object, "serviceAccountName"), message)
        .related(object.span().clone(), format!("this {}", object.kind()))
        .help(format!("set it to {account}; {why}{whose}"))
        .about(object.reference());
    finding.severity = severity;
    Some(finding)
}

/// Who applies what an object says. The operator does not take the lockdown of a FluxInstance for itself.
fn controller(object: &Object) -> &'static str {
    match object.kind() {
        "Kustomization" => "kustomize-controller",
        "HelmRelease" => "helm-controller",
        _ => "flux-operator",
    }
}

/// Tells whether an object is one of the kinds that act as an account, and whole: a parent may complete one that has
/// no source.
fn is_judged(object: &Object) -> bool {
    let has = |field: &str| object.node.at_keys(&["spec", field]).is_some();
    (is_kustomization(object) && has("sourceRef"))
        || (object.is(groups::HELM, "HelmRelease") && (has("chart") || has("chartRef")))
        || (object.is(groups::FLUX_OPERATOR, "ResourceSet") && has("resources"))
}
