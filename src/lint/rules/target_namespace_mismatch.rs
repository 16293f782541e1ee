use crate::base::finding::{Finding, Label, Severity};
use crate::flux::{Applied, is_kustomization};
use crate::kube::groups;
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, missing_in_spec};
use crate::lint::target_rights::account_without_rights;
use crate::lint::view::View;
use crate::text::Span;
use crate::yaml::Node;

declare! {
    /// A Kustomization of a tenant has no `targetNamespace` or one that is not its own, or its account has no rights there.
    ///
    /// ## Why
    ///
    /// Without `targetNamespace`, the repository of the tenant selects the namespaces of its objects. Flux rejects an
    /// object without a namespace. Flux tries to apply an object in another namespace, with the permissions that the
    /// account has there. With `targetNamespace`, Flux puts all objects into the namespace of the tenant.
    ///
    /// In a namespace in which the account has no rights, Flux creates nothing, even if both namespaces belong to one
    /// tenant: bindings grant rights, and labels do not. This also holds for the `targetNamespace` and the
    /// `storageNamespace` of a HelmRelease. The severity of this fault is always error.
    ///
    /// The severity of the other faults is error if tenants share the cluster, and pedantic otherwise. The configuration declares a tenant,
    /// or the rule detects it: a namespace with Flux objects, other than the namespace of Flux, that has the label
    /// `toolkit.fluxcd.io/tenant` or an account with a RoleBinding there. The rule ignores namespaces from which a hub
    /// reconciles remote clusters (`kubeConfig`), and platform namespaces, whose account has a ClusterRoleBinding.
    ///
    /// ## How to fix it
    ///
    /// Set `spec.targetNamespace` to the Kustomization's own namespace.
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
    /// [Flux: target namespace](https://fluxcd.io/flux/components/kustomize/kustomizations/#target-namespace)
    "target-namespace-mismatch", Error, "`targetNamespace` is not the namespace of the tenant, or the account has no rights there",
    Check::Cluster(check),
}

/// The fields with the namespaces in which Helm creates objects.
const OF_RELEASES: [&str; 2] = ["targetNamespace", "storageNamespace"];

fn check(view: &View<'_>, found: &mut Findings) {
    for applied in view.of_kind(groups::KUSTOMIZE, "Kustomization") {
        let finding = judge(&applied, view.context).map(|finding| placed(finding, &applied));
        let is_error = finding.as_ref().is_some_and(|finding| finding.severity == Severity::Error);
        // A pedantic finding follows from the missing rights.
        let forbidden = if is_error { None } else { forbidden(view, &applied, "targetNamespace") };
        found.extend(forbidden.or(finding));
    }
    for applied in view.of_kind(groups::HELM, "HelmRelease") {
        found.extend(OF_RELEASES.iter().find_map(|field| forbidden(view, &applied, field)));
    }
}

/// The finding with the positions of the applier's own cluster.
fn placed(mut finding: Finding, applied: &Applied<'_>) -> Finding {
    for label in std::iter::once(&mut finding.at).chain(&mut finding.related) {
        label.span = applied.by.place(&label.span);
    }
    finding
}

/// The finding of an account without rights in the namespace in which Flux creates objects as this account.
fn forbidden(view: &View<'_>, applied: &Applied<'_>, field: &str) -> Option<Finding> {
    let object = applied.object;
    let node = object.node.at_keys(&["spec", field])?;
    let target = node.text().filter(|target| !target.is_empty() && !target.contains('$'))?;
    let account = account_without_rights(view, object, applied.namespace(), target)?;
    let by = object.reference();
    let what = if field == "storageNamespace" { "stores the release" } else { "creates its objects" };
    let message = format!("{by} {what} in namespace `{target}`, in which ServiceAccount `{account}` has no rights");
    let place = |span: &Span| applied.by.place(span);
    let at = Label::new(place(node.span()), format!("`{account}` is not allowed to create any object here"));
    let help = format!(
        "bind `{account}` to a role in namespace `{target}`, or set `{field}` to `{}`: the API server rejects the objects",
        account.namespace
    );
    let finding = Finding::error(RULE.id, at, message).related(place(object.span()), format!("this {}", object.kind()));
    Some(finding.help(help).about(by))
}

fn judge(applied: &Applied<'_>, context: Context<'_>) -> Option<Finding> {
    let object = applied.object;
    let namespace = applied.namespace()?;
    let tenant = context.tenancy.tenants.get(namespace)?;
    let is_whole = is_kustomization(object) && object.node.at_keys(&["spec", "sourceRef"]).is_some();
    if !is_whole || context.tenancy.hubs.contains(namespace) {
        return None;
    }
    if applied.completion.mentions("targetNamespace") {
        return None;
    }
    let owner = tenant.as_ref().map_or_else(|| "the tenant".to_string(), |tenant| format!("tenant `{tenant}`"));
    let (at, message) = match object.node.at_keys(&["spec", "targetNamespace"]).filter(|node| !node.is_null()) {
        None => {
            let message = format!("{} has no `spec.targetNamespace`", object.reference());
            (missing_in_spec(object, "targetNamespace"), message)
        }
        Some(node) if node.text() == Some("") => {
            let message = format!("{} has an empty `spec.targetNamespace`", object.reference());
            (wrong(node, namespace), message)
        }
        Some(node) => {
            let target = node.text().unwrap_or_default();
            if target == namespace || target.contains('$') || is_same_tenant(context, tenant.as_deref(), target) {
                return None;
            }
            let message = format!("{} puts its objects into namespace `{target}`", object.reference());
            (wrong(node, namespace), message)
        }
    };
    let help = format!("set it to `{namespace}`, so that the objects of {owner} stay in its namespace");
    let mut finding = Finding::error(RULE.id, at, message)
        .related(object.span().clone(), "this Kustomization")
        .help(help)
        .about(object.reference());
    if !context.tenancy.multi_tenant {
        finding.severity = Severity::Pedantic;
    }
    Some(finding)
}

fn wrong(node: &Node, namespace: &str) -> Label {
    Label::new(node.span().clone(), format!("not its own namespace `{namespace}`"))
}

/// Returns whether a namespace is another namespace of the same tenant.
fn is_same_tenant(context: Context<'_>, tenant: Option<&str>, namespace: &str) -> bool {
    let other = context.tenancy.tenants.get(namespace).and_then(Option::as_deref);
    tenant.is_some() && tenant == other
}
