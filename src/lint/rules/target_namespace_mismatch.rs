use crate::base::finding::{Finding, Label, Safety, Severity};
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, missing_in_spec};
use crate::lint::view::View;
use crate::rbac::{Account, Answer, acts_as};
use crate::text::Span;
use crate::yaml::fix;
use crate::yaml::{Name, Node};

declare! {
    /// A Kustomization of a tenant has no `targetNamespace`, or sets a namespace that is not its own.
    ///
    /// ## Why
    ///
    /// Without `targetNamespace`, the repository of the tenant selects the namespaces of its objects. Flux rejects an
    /// object without a namespace. For an object in another namespace, Flux uses the permissions of the account in that
    /// namespace. With `targetNamespace`, Flux applies all objects to the namespace of the tenant. The message states
    /// whether the rights of the account prevent objects in other namespaces. `targetNamespace` does not replace these
    /// rights, so the rule ignores a Kustomization without an account (`missing-service-account`). It also ignores a
    /// Kustomization with an account that has all rights on the cluster (`tenant-cluster-admin`).
    ///
    /// Several namespaces may belong to one tenant. The rule also reports a Kustomization or HelmRelease with a
    /// `targetNamespace` in which its account has no rights, since the API server rejects the objects.
    ///
    /// The severity is error if tenants share the cluster, and otherwise pedantic. It is warning for a `targetNamespace`
    /// that no tenant owns, if a binding grants the account rights there. The configuration declares a tenant, or the rule
    /// detects it. A tenant namespace contains Flux objects, is not the namespace of Flux, and has the
    /// label `toolkit.fluxcd.io/tenant` or an account with a RoleBinding in the namespace. The rule ignores namespaces
    /// from which a hub reconciles remote clusters (`kubeConfig`). It also ignores platform namespaces, in which the
    /// account has a ClusterRoleBinding.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: target namespace](https://fluxcd.io/flux/components/kustomize/kustomizations/#target-namespace)
    "target-namespace-mismatch", Error, "a Kustomization of a tenant does not set `targetNamespace` to its own namespace",
    Check::Cluster(check), fixes: [Unsafe],
}

fn check(view: &View<'_>, found: &mut Findings) {
    if view.tenancy().tenants.is_empty() {
        return;
    }
    for (group, kind) in [(groups::KUSTOMIZE, "Kustomization"), (groups::HELM, "HelmRelease")] {
        for applied in view.of_kind(group, kind) {
            found.extend(judge(view, &applied));
        }
    }
}

fn judge(view: &View<'_>, applied: &Applied<'_>) -> Option<Finding> {
    let (object, tenancy) = (applied.object, view.tenancy());
    let namespace = applied.namespace()?;
    let tenant = tenancy.tenants.get(namespace)?;
    let has = |field: &str| object.node.at_keys(&["spec", field]).is_some();
    let is_whole = has("sourceRef") || has("chart") || has("chartRef");
    if !is_whole || tenancy.hubs.contains(namespace) || applied.completion.mentions("targetNamespace") {
        return None;
    }
    let target = object.node.at_keys(&["spec", "targetNamespace"]).filter(|node| !node.is_null());
    let name = target.and_then(Node::text).unwrap_or_default();
    if name == namespace || name.contains('$') {
        return None;
    }
    let owner = tenant.as_ref().map_or_else(|| "the tenant".to_string(), |tenant| format!("tenant `{tenant}`"));
    let other = tenancy.tenants.get(name).and_then(Option::as_deref);
    let is_same_tenant = tenant.is_some() && tenant.as_deref() == other;
    let place = |span: &Span| applied.by.place(span);
    let wrong = |node: &Node| Label::new(place(node.span()), format!("not its own namespace `{namespace}`"));
    let denied = || denied_account(view, applied, name);
    let (at, message, help) = match target {
        Some(node) if !name.is_empty() && (is_same_tenant || object.kind() == "HelmRelease") => {
            let account = denied()?;
            let (verb, effect) = match object.kind() {
                "HelmRelease" => ("installs its chart", "the API server rejects the objects of the chart"),
                _ => ("puts its objects", "the API server rejects the first object, and Flux applies no other object"),
            };
            let message = format!(
                "{} {verb} into namespace `{name}`, where ServiceAccount `{account}` has no rights",
                object.reference()
            );
            let help = format!(
                "bind `{account}` to a role in namespace `{name}`, or set `targetNamespace` to `{namespace}`: {effect}"
            );
            (wrong(node), message, help)
        }
        _ if object.kind() == "HelmRelease" => return None,
        Some(node) if !name.is_empty() => {
            if !has_account(view, applied) {
                return None;
            }
            let rights = denied().map(|account| format!(", where ServiceAccount `{account}` has no rights"));
            let rights = rights.unwrap_or_default();
            let message = format!("{} puts its objects into namespace `{name}`{rights}", object.reference());
            let help = format!(
                "set `targetNamespace` to `{namespace}`, so that the objects of {owner} stay in its own namespace"
            );
            (wrong(node), message, help)
        }
        other => {
            let what = if other.is_some() { "an empty" } else { "no" };
            let rights = rights(view, applied)?.of_one(namespace);
            let message = format!("{} has {what} `spec.targetNamespace`{rights}", object.reference());
            let missing = missing_in_spec(object, "targetNamespace");
            let missing = Label::new(place(&missing.span), missing.message);
            let help = format!(
                "set `targetNamespace` to `{namespace}`, so that the objects of {owner} stay in its own namespace"
            );
            (other.map_or(missing, wrong), message, help)
        }
    };
    // For a HelmRelease, the rights of its account may be the fault instead.
    let spec = object.node.get("spec").filter(|_| object.kind() == "Kustomization");
    let fix = spec
        .and_then(|spec| fix::set(spec, "targetNamespace", namespace, &["interval", "path", "prune"], Safety::Unsafe));
    let mut finding = Finding::error(RULE.id, at, message)
        .fixed_at(fix, place)
        .related(place(object.span()), format!("this {}", object.kind()))
        .help(help)
        .about(object.reference());
    if let Some(rights) = rights(view, applied).filter(|_| target.is_none()) {
        // The author of several tenants usually makes the same mistake in each of them.
        let summary = format!(" Kustomizations of tenants have no `spec.targetNamespace`{}", rights.of_several());
        finding = finding.caused_by(summary.clone(), "", summary).help_for_all(
            "set `targetNamespace` to the namespace of each Kustomization, so that the objects of each tenant stay in its \
             own namespaces",
        );
    }
    let is_granted = || target.is_some() && !tenancy.tenants.contains_key(name) && is_granted(view, applied, name);
    finding.severity = match tenancy.multi_tenant {
        false => Severity::Pedantic,
        true if is_granted() => Severity::Warning,
        true => Severity::Error,
    };
    Some(finding)
}

/// Returns whether Flux applies the contents of an object with an account of a tenant. `missing-service-account` reports
/// the other objects.
fn has_account(view: &View<'_>, applied: &Applied<'_>) -> bool {
    let named = applied.object.text_at(&["spec", "serviceAccountName"]);
    named.is_some_and(|name| !name.is_empty()) || acts_as(applied.object, applied.namespace(), view.tenancy()).is_some()
}

/// Returns whether the platform certainly grants the account of an object rights in a namespace.
fn is_granted(view: &View<'_>, applied: &Applied<'_>, namespace: &str) -> bool {
    acts_as(applied.object, applied.namespace(), view.tenancy())
        .is_some_and(|account| matches!(view.rbac().can_create_in(&account, namespace), Answer::Allowed(_)))
}

/// The account that applies the contents of an object, if it certainly has no rights in a namespace.
fn denied_account(view: &View<'_>, applied: &Applied<'_>, namespace: &str) -> Option<Account> {
    let account = acts_as(applied.object, applied.namespace(), view.tenancy())?;
    let is_denied = matches!(view.rbac().can_create_in(&account, namespace), Answer::Denied);
    is_denied.then_some(account)
}

/// The effect of the account's rights without `targetNamespace`.
enum Rights {
    Unknown,
    Everywhere(Account),
    OwnNamespace(Account),
    OtherNamespaces(Account, Vec<Name>),
}

impl Rights {
    /// The effect, as a part of a message about a Kustomization in a namespace.
    fn of_one(&self, own: &str) -> String {
        match self {
            Self::Unknown => String::new(),
            Self::Everywhere(account) => format!(", and ServiceAccount `{account}` can write to every namespace"),
            Self::OwnNamespace(account) => {
                format!("; only the rights of ServiceAccount `{account}` keep its objects in namespace `{own}`")
            }
            Self::OtherNamespaces(account, others) => match others.as_slice() {
                [] => String::new(),
                [one] => format!(", and ServiceAccount `{account}` can also write to namespace `{one}`"),
                [one, ..] => format!(
                    ", and ServiceAccount `{account}` can also write to {} other namespaces, such as `{one}`",
                    others.len()
                ),
            },
        }
    }

    /// The effect, as a part of a message about several Kustomizations.
    fn of_several(&self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Everywhere(_) => ", and their ServiceAccounts can write to every namespace",
            Self::OwnNamespace(_) => {
                "; only the rights of their ServiceAccounts keep their objects in their namespaces"
            }
            Self::OtherNamespaces(..) => ", and their ServiceAccounts can also write to other namespaces",
        }
    }
}

/// Returns the effect of the account's rights without `targetNamespace`.
///
/// The result is `None` if no rights confine the Kustomization, which other rules report.
fn rights(view: &View<'_>, applied: &Applied<'_>) -> Option<Rights> {
    let named = applied.object.text_at(&["spec", "serviceAccountName"]);
    let Some(account) = acts_as(applied.object, applied.namespace(), view.tenancy()) else {
        return named.filter(|name| !name.is_empty()).map(|_| Rights::Unknown);
    };
    // The rights in the whole cluster are unknown if the account may have an unknown binding.
    match view.rbac().can_create_in(&account, "") {
        _ if view.rbac().may_do_everything(&account) => None,
        Answer::Allowed(_) => Some(Rights::Everywhere(account)),
        Answer::Unknown(_) => Some(Rights::Unknown),
        Answer::Denied => {
            let others: Vec<Name> = view.rbac().foreign_scopes(&account).into_iter().collect();
            Some(if others.is_empty() {
                Rights::OwnNamespace(account)
            } else {
                Rights::OtherNamespaces(account, others)
            })
        }
    }
}
