use crate::base::finding::{Finding, Label, Severity};
use crate::flux::{
    Applied, ApplierKind, OperatorAccount, is_kustomization, is_of_bootstrap, is_resource_set, without_values,
};
use crate::kube::{Object, groups};
use crate::lint::context::Context;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare, missing_in_spec};
use crate::yaml::{Node, Style, Value};

declare! {
    /// A Kustomization, HelmRelease or ResourceSet has no `serviceAccountName`.
    ///
    /// ## Why
    ///
    /// Without a lockdown, Flux applies the object with its own permissions, which are the permissions of a cluster
    /// admin. A user who can write to the tenant's repository then controls the cluster. Under a lockdown, Flux uses a
    /// default account without permissions, and the reconciliation fails.
    ///
    /// The severity is error if tenants share the cluster, and otherwise pedantic. In platform namespaces, it is error
    /// only under a lockdown. It is warning if the account or `kubeConfig` is empty without the variables of a Secret, or if a
    /// variable hides the namespace. The rule ignores:
    ///
    /// - a namespace in which the default account of the lockdown has a binding
    /// - an object with an account that a patch sets later
    /// - an object with `kubeConfig`, because its identity belongs to the remote cluster
    /// - a ResourceSet of the platform under a lockdown, unless the values of Flux Operator's chart or the arguments of
    ///   its Deployment set its default account
    ///
    /// The label `toolkit.fluxcd.io/tenant` alone does not define a tenant if the platform defines the releases of the
    /// namespace and nothing confines the tenant: the cluster has no lockdown, and no account of the namespace has a
    /// RoleBinding to `admin`, `edit` or `cluster-admin`.
    ///
    /// ## How to fix it
    ///
    /// Create a ServiceAccount and a RoleBinding in the tenant's namespace, and set `spec.serviceAccountName` to the
    /// name of the ServiceAccount.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: multi-tenancy lockdown](https://fluxcd.io/flux/installation/configuration/multitenancy/)
    "missing-service-account", Error, "a Kustomization, HelmRelease or ResourceSet has no `serviceAccountName`",
    Check::Object(check),
}

fn check(applied: &Applied<'_>, context: Context<'_>, found: &mut Findings) {
    let Some(finding) = judge(applied, context) else { return };
    // The applier of the object sets the namespace, which determines the account that Flux uses.
    let is_open = applied.by.kind == ApplierKind::Folder && applied.namespace().is_none();
    // A fleet with a lockdown usually sets a default account for Flux Operator, but only the values of its chart
    // contain the account.
    let is_unknown = matches!(context.tenancy.operator, OperatorAccount::None | OperatorAccount::Unknown);
    let is_of_operator = is_resource_set(applied.object) && context.tenancy.lockdown.is_some() && is_unknown;
    let is_pedantic = finding.severity == Severity::Pedantic;
    if is_pedantic && is_open {
        found.unchecked("the account of objects whose namespace another repository sets");
    } else if is_pedantic && is_of_operator {
        found.unchecked("the default account of Flux Operator for a ResourceSet");
    } else {
        found.push(finding);
    }
}

fn judge(applied: &Applied<'_>, context: Context<'_>) -> Option<Finding> {
    let object = applied.object;
    if !is_judged(object) || applied.completion.mentions("serviceAccountName") {
        return None;
    }
    let field = |name: &str| object.node.at_keys(&["spec", name]).filter(|node| !node.is_null());
    let (account, config) = (field("serviceAccountName"), field("kubeConfig"));
    let (unknown_account, unknown_config) =
        (account.filter(|node| may_be_empty(node)), config.filter(|node| may_be_empty(node)));
    let has_account = account.and_then(Node::text).is_some_and(|name| !name.is_empty()) && unknown_account.is_none();
    if has_account || (config.is_some() && unknown_config.is_none()) {
        return None;
    }
    let unknown = unknown_config.map(|node| ("kubeConfig", node));
    let unknown = unknown.or_else(|| unknown_account.map(|node| ("serviceAccountName", node)));
    let tenancy = context.tenancy;
    let namespace = applied.namespace();
    let controller = controller(object);
    if namespace.is_some_and(|namespace| tenancy.default_account_works(controller, namespace)) {
        return None;
    }
    let is_tenant = namespace.is_some_and(|namespace| tenancy.tenants.contains_key(namespace));
    let default = tenancy.default_account(controller).filter(|_| namespace.is_some());
    let locked = default.is_some();
    // The objects that `flux bootstrap` and a FluxInstance create for the cluster use the account of the controller,
    // unless a lockdown prevents this.
    if !locked && (is_of_bootstrap(object) || applied.by.kind == ApplierKind::FluxInstance) {
        return None;
    }
    // The default account of the operator restricts ResourceSets as a lockdown does.
    let fails = locked && is_resource_set(object);
    let is_fault = fails || (tenancy.multi_tenant && (is_tenant || locked));
    let is_hidden = object.node.at_keys(&["metadata", "namespace"]).is_some_and(is_unknown);
    let severity = match (is_fault, unknown) {
        (true, None) => Severity::Error,
        (true, Some(_)) => Severity::Warning,
        // The namespace may belong to a tenant.
        (false, _) if is_hidden && tenancy.multi_tenant => Severity::Warning,
        (false, None) => Severity::Pedantic,
        (false, Some(_)) => return None,
    };
    let message = match unknown {
        Some((field, _)) => format!("the variable in `spec.{field}` of {} may be empty", object.reference()),
        None => format!("{} has no `spec.serviceAccountName`", object.reference()),
    };
    let account = match namespace {
        Some(namespace) => format!("a ServiceAccount of namespace `{namespace}`"),
        None => "a ServiceAccount of its namespace".to_string(),
    };
    let why = match default {
        Some(default) => format!("without it, Flux uses `{default}`, which has no binding in that namespace"),
        None => "without it, Flux applies the object with its own permissions".to_string(),
    };
    let tenant = namespace.and_then(|namespace| tenancy.tenants.get(namespace)).and_then(Option::as_deref);
    let owner = tenant.map_or_else(String::new, |tenant| format!(", and the namespace belongs to tenant `{tenant}`"));
    // The `spec` of a ResourceSet contains whole objects, so a label at `spec` would be ambiguous.
    let place = match (object.kind(), unknown) {
        (_, Some((_, unknown))) => Label::new(unknown.span().clone(), "the value of the variable is unknown"),
        ("ResourceSet", None) => Label::new(object.span().clone(), "no `spec.serviceAccountName`"),
        (_, None) => missing_in_spec(object, "serviceAccountName"),
    };
    let mut finding = Finding::error(RULE.id, place, message)
        .related(object.span().clone(), format!("this {}", object.kind()))
        .help(format!("set it to {account}; {why}{owner}"))
        .about(object.reference());
    if let Some(namespace) = namespace {
        let kind = object.kind();
        let summary = format!(" {kind}s of namespace `{namespace}` have no `spec.serviceAccountName`");
        // A namespace with the same name may have another owner or default account on another cluster.
        finding = finding.caused_by(format!("{namespace} {controller} {why}{owner}"), "", summary);
    }
    finding.severity = severity;
    Some(finding)
}

/// Returns whether a value is empty if the variables that only the cluster knows are not set.
fn may_be_empty(node: &Node) -> bool {
    without_values(node).is_some_and(|value| value.is_empty())
}

/// Returns whether only the cluster knows a value.
fn is_unknown(node: &Node) -> bool {
    matches!(node.value, Value::Scalar(_, Style::Unknown))
}

/// The controller that reconciles an object. The lockdown of a FluxInstance does not restrict Flux Operator.
fn controller(object: &Object) -> &'static str {
    match object.kind() {
        "Kustomization" => "kustomize-controller",
        "HelmRelease" => "helm-controller",
        _ => "flux-operator",
    }
}

/// Returns whether an object is complete and has a kind that uses an account.
///
/// A parent may complete an object without a source.
fn is_judged(object: &Object) -> bool {
    let has = |field: &&str| object.node.at_keys(&["spec", field]).is_some();
    (is_kustomization(object) && has(&"sourceRef"))
        || (object.is(groups::HELM, "HelmRelease") && ["chart", "chartRef"].iter().any(has))
        || (object.is(groups::FLUX_OPERATOR, "ResourceSet")
            && ["resources", "resourcesTemplate", "steps"].iter().any(has))
}
