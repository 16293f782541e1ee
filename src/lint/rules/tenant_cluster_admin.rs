use crate::base::finding::{Finding, Label, Severity};
use crate::flux::{Applied, rights_patches};
use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::rbac::{Binding, BoundSubject, Rbac, Role, Tenant, Tenants};
use crate::text::Span;
use crate::yaml::Node;

/// The kinds of objects with which the platform prepares a namespace for a tenant.
const PREPARATIONS: &[&str] =
    &["LimitRange", "Namespace", "NetworkPolicy", "ResourceQuota", "Role", "RoleBinding", "ServiceAccount"];

declare! {
    /// An account of a tenant has all permissions, through `cluster-admin` or an equivalent role.
    ///
    /// ## Why
    ///
    /// The severity is error for a ClusterRoleBinding, and for a RoleBinding outside the tenant's own namespaces. A
    /// user who can write to the tenant's repository then controls the Secrets of other tenants, the policies, and
    /// Flux. The severity is warning for a RoleBinding in the tenant's own namespace, since the tenant can change its
    /// own quota, network policies and limits. The same applies to another namespace if the tenant applies objects
    /// there, and the platform only prepares the namespace with roles, quotas and limits. The rule ignores a
    /// RoleBinding in the tenant's own namespace if neither a label nor a Kustomization of another repository assigns
    /// the namespace to a tenant, since only the platform writes the objects of the namespace.
    ///
    /// The severity is also warning if the repository does not show the name of the role, its rules, or the subjects of a
    /// binding to a role with all permissions, because they come from a variable of a Secret or are encrypted. The same
    /// applies to a label of a role with all permissions that another role may aggregate.
    ///
    /// The configuration declares a tenant, or the rule detects it. A tenant namespace contains Flux objects, is not
    /// the namespace of Flux, and has the label `toolkit.fluxcd.io/tenant` or an account with a RoleBinding in the
    /// namespace. An account with only a ClusterRoleBinding belongs to the platform, unless its namespace has the label
    /// and a Kustomization of another repository. An account with both bindings belongs to the platform if its namespace
    /// has neither of them. The account belongs to a tenant if the configuration declares its namespace or the account
    /// (`tenancy.tenants.NAME.accounts`).
    ///
    /// ## How to fix it
    ///
    /// Bind the account to `admin` or `edit` with a RoleBinding in each of its namespaces, or to a role with the
    /// permissions that it needs.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Kubernetes: default roles](https://kubernetes.io/docs/reference/access-authn-authz/rbac/#user-facing-roles),
    /// [flux2#505](https://github.com/fluxcd/flux2/issues/505)
    "tenant-cluster-admin", Error, "an account of a tenant has all permissions", Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    let tenants = view.tenants();
    // Without tenants, the rule does not need the rights, which are expensive to compute.
    if tenants.is_empty() {
        return;
    }
    let is_supposed = |namespace: &str| view.tenancy().supposed.contains(namespace);
    for (binding, bound, tenant) in tenants.bindings(view.rbac()) {
        if tenant.namespaces.contains(&binding.namespace) && is_supposed(&binding.namespace) {
            continue;
        }
        let rules = || view.rbac().rules(binding);
        if binding.role.is_hidden {
            let place = |_: &BoundSubject| binding.role.place.written().cloned();
            found.extend(hidden(binding, bound, tenant).map(|finding| with_subjects(finding, binding, tenants, place)));
        } else if let Some((_, from)) = rules().find(|(rule, _)| rule.is_everything()) {
            let is_own = tenant.namespaces.contains(&binding.namespace) || is_left_to(view, &binding.namespace, tenant);
            let finding = finding(binding, bound, tenant, from, is_own);
            let place = |bound: &BoundSubject| bound.place.written().cloned();
            found.extend(finding.map(|finding| with_subjects(finding, binding, tenants, place)));
        } else if let Some(role) = opaque_role(view.rbac(), binding) {
            found.extend(opaque(binding, bound, tenant, role));
        } else if let Some(role) = view.rbac().possible_roles(binding).next() {
            found.extend(nameless(binding, bound, role));
        }
    }
    found.extend(view.rbac().possibly_aggregated().filter_map(|(role, label)| unlabeled(role, label)));
    for applied in view.of_kind(groups::FLUX_OPERATOR, "FluxInstance") {
        found.extend(rights_patches(applied.object).map(|patch| patched(&applied, patch)));
    }
    for binding in view.rbac().bindings().filter(|binding| binding.is_opaque) {
        let is_everything = || view.rbac().rules(binding).any(|(rule, _)| rule.is_everything());
        if tenants.subjects(binding).next().is_none() && (binding.role.is_hidden || is_everything()) {
            found.extend(open(binding));
        }
    }
}

/// The finding of a patch that changes the rights of Flux's own installation.
fn patched(applied: &Applied<'_>, patch: &Node) -> Finding {
    let message = format!(
        "a patch of {} changes roles or bindings of Flux, which may give accounts of tenants all permissions",
        applied.object.reference()
    );
    let at = applied.by.place(patch.span());
    let help = "add a role and a binding instead: the linter does not apply the patch to the objects of Flux";
    Finding::warning(RULE.id, at, message).help(help).about(applied.object.reference())
}

/// The role of a binding, or a role that it aggregates, whose rules the repository does not show.
fn opaque_role<'a>(rbac: &'a Rbac, binding: &'a Binding) -> Option<&'a Role> {
    let own = rbac.role(binding);
    own.into_iter().chain(rbac.rules(binding).map(|(_, from)| from)).find(|role| role.is_opaque)
}

/// The finding of a role whose rules the repository does not show.
fn opaque(binding: &Binding, bound: &BoundSubject, tenant: &Tenant, role: &Role) -> Option<Finding> {
    let at = Label::new(role.place.written()?.clone(), format!("the role of an account of {}", tenant.called()));
    let message = format!(
        "the repository does not show the rules of {}: {} may have all permissions",
        role.reference(),
        bound.subject
    );
    let help = "write the rules: a variable of a Secret or an encrypted value hides them from reviewers";
    let finding = Finding::warning(RULE.id, at, message).help(help).about(role.object());
    let finding = finding.caused_by("opaque", "", " roles of tenants have rules that the repository does not show");
    let place = binding.place.written().cloned();
    Some(place.into_iter().fold(finding, |finding, place| finding.related(place, "bound here")))
}

/// The finding of a role with all permissions whose name the repository does not show.
fn nameless(binding: &Binding, bound: &BoundSubject, role: &Role) -> Option<Finding> {
    let at = Label::new(role.place.written()?.clone(), "this role has all permissions");
    let message = format!(
        "the repository does not show the name of a {} with all permissions, which may be the role of {}",
        role.kind(),
        bound.subject
    );
    let help = "write the name: a variable of a Secret or an encrypted value hides it from reviewers";
    let finding = Finding::warning(RULE.id, at, message).help(help).about(role.object());
    let finding =
        finding.caused_by("nameless", "", " roles with all permissions have names that the repository does not show");
    let place = binding.role.place.written().cloned();
    Some(place.into_iter().fold(finding, |finding, place| finding.related(place, "may reference this role")))
}

/// The finding of a role with all permissions that other roles may aggregate, since the repository does not show a label.
fn unlabeled(role: &Role, label: &str) -> Option<Finding> {
    let at = Label::new(role.place.written()?.clone(), "this role has all permissions");
    let message = format!(
        "the repository does not show label `{label}` of {}: accounts of tenants may have all permissions, through a role \
        that aggregates it",
        role.reference()
    );
    let help = "write the label: a variable of a Secret or an encrypted value hides it from reviewers";
    let finding = Finding::warning(RULE.id, at, message).help(help).about(role.object());
    Some(finding.caused_by(
        "unlabeled",
        "",
        " roles with all permissions have labels that the repository does not show",
    ))
}

/// The finding of a binding whose subjects the repository does not show.
fn open(binding: &Binding) -> Option<Finding> {
    let at = binding.place.written()?.clone();
    let message = format!(
        "the repository does not show the subjects of {}: a tenant may have {}",
        binding.reference(),
        binding.role_name()
    );
    let help = "write the subjects: a variable of a Secret or an encrypted name hides them from reviewers";
    let finding = Finding::warning(RULE.id, at, message).help(help).about(binding.object());
    Some(finding.caused_by("open", "", " bindings have subjects that the repository does not show"))
}

/// Adds the fault of each subject. A binding with another subject has another fault.
fn with_subjects(
    finding: Finding,
    binding: &Binding,
    tenants: &Tenants,
    place: impl Fn(&BoundSubject) -> Option<Span>,
) -> Finding {
    let fault = |bound: &BoundSubject| Some((place(bound)?, format!("{} {}", bound.subject, binding.role_name())));
    finding.with_faults(tenants.subjects(binding).filter_map(fault))
}

/// Returns whether only a tenant uses a namespace: its Kustomizations apply objects there, and the other objects only
/// prepare the namespace.
fn is_left_to(view: &View<'_>, namespace: &str, tenant: &Tenant) -> bool {
    let tenancy = view.tenancy();
    if namespace.is_empty() || tenancy.flux_namespaces.contains(namespace) || tenancy.tenants.contains_key(namespace) {
        return false;
    }
    let used = view.objects().filter(|applied| applied.namespace() == Some(namespace));
    let is_of_tenant = |applied: &Applied<'_>| {
        applied.by.reference.namespace.as_deref().is_some_and(|namespace| tenant.namespaces.contains(namespace))
    };
    let mut others = used.filter(|applied| !PREPARATIONS.contains(&applied.object.kind()));
    let first = others.next();
    first.is_some_and(|first| is_of_tenant(&first)) && others.all(|applied| is_of_tenant(&applied))
}

/// The finding of a role whose name the repository does not show.
fn hidden(binding: &Binding, bound: &BoundSubject, tenant: &Tenant) -> Option<Finding> {
    let at =
        Label::new(binding.role.place.written()?.clone(), format!("the role of an account of {}", tenant.called()));
    let message = format!("the repository does not show which role {} has: it may have all permissions", bound.subject);
    let help = "write the name of the role: a variable of a Secret or an encrypted name hides it from reviewers";
    let finding = Finding::warning(RULE.id, at, message).help(help);
    let finding = finding.caused_by("hidden", "", " bindings do not show which roles accounts of tenants have");
    Some(finding.about(binding.object()))
}

fn finding(binding: &Binding, bound: &BoundSubject, tenant: &Tenant, from: &Role, is_own: bool) -> Option<Finding> {
    let at = Label::new(bound.place.written()?.clone(), format!("an account of {}", tenant.called()));
    let scope = match &*binding.namespace {
        "" => "on the whole cluster".to_owned(),
        namespace => format!("in namespace `{namespace}`"),
    };
    let is_aggregated = from.name != binding.role.name;
    let aggregated = if is_aggregated { format!(", which aggregates {}", from.reference()) } else { String::new() };
    let message = format!("{} has all permissions {scope}, through {}{aggregated}", bound.subject, binding.role_name());
    let help = if is_aggregated {
        "list only the required permissions in the aggregated role, or remove the label that aggregates it: every \
         subject of the other role has these permissions"
    } else if is_own {
        "bind the account to `admin`, or to a role with the required permissions: now it can change its own quotas and \
         policies"
    } else {
        "bind the account to `admin` with a RoleBinding in its own namespace: now it can read and change the objects of \
         others"
    };
    let mut finding = Finding::error(RULE.id, at, message).help(help);
    if is_own {
        finding.severity = Severity::Warning;
    }
    if let Some(place) = binding.role.place.written() {
        finding = finding.related(place.clone(), "this role");
    }
    // The bindings of all tenants usually follow one template.
    let key = format!("{} {} {is_own}", binding.role_name(), from.name);
    let where_ = if is_own { " in their own namespaces" } else { "" };
    let after = format!(" bindings give accounts of tenants all permissions{where_}, through {}", binding.role_name());
    finding = finding.caused_by(key, "", after);
    if let Some(place) = from.place.written().filter(|_| is_aggregated) {
        finding = finding.related(place.clone(), "the bound role aggregates this role");
    }
    Some(finding.about(binding.object()))
}
