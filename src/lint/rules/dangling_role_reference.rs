use std::cell::LazyCell;

use crate::base::finding::{Finding, Label, Safety, Severity};
use crate::base::similar_names::did_you_mean;
use crate::flux::Applied;
use crate::kube::{Object, ObjectId, groups};
use crate::lint::facts::unknown_sources::UnknownSource;
use crate::lint::findings::Findings;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::rbac::Binding;
use crate::text::Index;
use crate::yaml::fix;

declare! {
    /// A RoleBinding or ClusterRoleBinding references a role that does not exist.
    ///
    /// ## Why
    ///
    /// Kubernetes accepts the binding without a warning, but the binding grants no permissions. An account that needs
    /// the permissions of the role fails later, in another place. An account that can create a role with that name
    /// determines the permissions that the binding grants. The severity is warning, because the Kustomization itself
    /// becomes ready, and the binding takes effect as soon as the role exists.
    ///
    /// The rule ignores the roles of Kubernetes, of Flux, and of common platforms (GKE, EKS, AKS, OpenShift, Rancher,
    /// k3s). It also ignores remote clusters that Flux accesses with a `kubeConfig`. A chart may create a role with the
    /// name of the chart, and an unbuilt input may create any role. The rule does not report such roles. The severity
    /// is pedantic if a chart with another name may contain the role.
    ///
    /// ## How to fix it
    ///
    /// Add the role to the objects that the cluster receives, or correct the name. The cluster does not receive the
    /// objects of a file that the kustomization.yaml of its directory does not list. A Role must be in the namespace of
    /// the binding.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: RoleBinding
    /// metadata:
    ///   name: readers
    ///   namespace: backend
    /// roleRef:
    ///   apiGroup: rbac.authorization.k8s.io
    ///   kind: Role
    ///   name: reader
    /// subjects:
    ///   - kind: ServiceAccount
    ///     name: backend
    ///     namespace: backend
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: RoleBinding
    /// metadata:
    ///   name: readers
    ///   namespace: backend
    /// roleRef:
    ///   apiGroup: rbac.authorization.k8s.io
    ///   kind: Role
    ///   name: reader
    /// subjects:
    ///   - kind: ServiceAccount
    ///     name: backend
    ///     namespace: backend
    /// ---
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: Role
    /// metadata:
    ///   name: reader
    ///   namespace: backend
    /// rules:
    ///   - apiGroups: [""]
    ///     resources: [configmaps]
    ///     verbs: [get, list, watch]
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Kubernetes: role bindings](https://kubernetes.io/docs/reference/access-authn-authz/rbac/#rolebinding-and-clusterrolebinding)
    "dangling-role-reference", Warning, "a binding references a role that does not exist", Check::Cluster(check),
    fixes: [Unsafe],
}

/// The prefixes of the roles that platforms and their add-ons create.
const PLATFORMS: &[&str] = &[
    "system:",
    "kubeadm:",
    "eks:",
    "eks-",
    "aws-node",
    "vpc-resource-controller",
    "aks-",
    "container-insights-",
    "gce:",
    "gke-",
    "cloud-provider",
    "gmp-",
    "openshift",
    "registry-",
    "self-",
    "cluster-reader",
    "cluster-status",
    "cluster-monitoring-",
    "basic-user",
    "sudoer",
    "storage-admin",
    "cattle-",
    "rancher-",
    "k3s-",
    "rke2-",
    "local-path-provisioner",
    "psp:",
    "calico-",
    "tigera-",
    "cilium",
];

/// The kinds that grant permissions.
const BINDINGS: [&str; 2] = ["ClusterRoleBinding", "RoleBinding"];

fn check(view: &View<'_>, found: &mut Findings) {
    if !view.is_whole() || view.receiver.target.is_some() {
        return;
    }
    // Manifests of roles and bindings belong together, so a cluster that receives no bindings has no missing roles.
    let mut own = BINDINGS.iter().flat_map(|kind| view.of_kind(groups::RBAC, kind));
    if own.next().is_none() {
        return;
    }
    let rbac = view.rbac();
    let roles = LazyCell::new(|| Roles::of(view));
    let mut suggestions = 0;
    for binding in rbac.bindings().filter(|binding| rbac.role(binding).is_none()) {
        let name = &*binding.role.name;
        // The API server rejects a binding of the whole cluster to a Role (`invalid-object`).
        if binding.namespace.is_empty() && !binding.role.is_cluster_role {
            continue;
        }
        if name.contains("${") || PLATFORMS.iter().any(|prefix| name.starts_with(prefix)) {
            continue;
        }
        let (namespace, kind) =
            if binding.role.is_cluster_role { ("", "ClusterRole") } else { (&*binding.namespace, "Role") };
        let id = ObjectId { group: groups::RBAC, kind, namespace, name };
        match view.presence(groups::RBAC, kind, namespace, name) {
            Presence::Unknown(UnknownSource::Chart(_)) if !view.unknown_sources().is_likely_role(id) => {
                let finding = finding(&roles, binding, namespace, kind, &mut suggestions);
                found.extend(finding.map(|finding| of_chart(finding, binding)));
            }
            Presence::Unknown(source) => {
                found.unchecked(format!("{}, which {source} may create", binding.role_name()));
            }
            Presence::Received(_) | Presence::Produced(_) | Presence::BuiltIn => {}
            Presence::Missing => found.extend(finding(&roles, binding, namespace, kind, &mut suggestions)),
        }
    }
}

/// Returns the finding for a role that charts may create, but probably do not create.
///
/// The help does not suggest a manifest for the role, since Helm rejects existing objects that it does not own.
fn of_chart(finding: Finding, binding: &Binding) -> Finding {
    let message = format!(
        "{} references {}, which no manifest contains; a chart may create the role",
        binding.reference(),
        binding.role_name()
    );
    let help = "render the charts of the cluster with `helm template`; if no chart creates the role, correct the name";
    Finding { severity: Severity::Pedantic, message, help: Some(help.into()), ..finding }
}

/// The maximum number of suggestions for a cluster. Each compares a name with those of all roles.
const MAX_SUGGESTIONS: usize = 50;

/// The roles that a cluster receives.
struct Roles<'a> {
    /// The roles by kind and namespace.
    by_namespace: Index<(&'a str, &'a str), Vec<&'a str>>,
    /// The first role by kind and name.
    by_name: Index<(&'a str, &'a str), &'a Object>,
}

impl<'a> Roles<'a> {
    fn of(view: &View<'a>) -> Self {
        let mut roles = Self { by_namespace: Index::default(), by_name: Index::default() };
        for kind in ["Role", "ClusterRole"] {
            for Applied { object, .. } in view.of_kind(groups::RBAC, kind) {
                let namespace = object.namespace().filter(|_| kind == "Role").unwrap_or_default();
                roles.by_namespace.entry((kind, namespace)).push(object.name());
                roles.by_name.entry_or((kind, object.name()), || object);
            }
        }
        roles
    }
}

fn finding(
    roles: &Roles<'_>,
    binding: &Binding,
    namespace: &str,
    kind: &str,
    suggestions: &mut usize,
) -> Option<Finding> {
    let at = Label::new(binding.role.place.written()?.clone(), "not found");
    let message = format!("{} references {}, which does not exist", binding.reference(), binding.role_name());
    let elsewhere = roles.by_name.get(&(kind, &*binding.role.name));
    *suggestions += usize::from(elsewhere.is_none());
    let is_suggested = elsewhere.is_none() && *suggestions <= MAX_SUGGESTIONS;
    let near = roles.by_namespace.get(&(kind, namespace)).filter(|_| is_suggested);
    let meant = did_you_mean(&binding.role.name, near.into_iter().flatten().copied());
    let fix = meant.and_then(|meant| fix::retype(&at.span, &binding.role.name, meant, Safety::Unsafe));
    let help = match (elsewhere, meant) {
        (Some(other), _) => format!(
            "add the Role to namespace `{namespace}`: a Role must be in the namespace of its binding, and {} is in \
             another namespace",
            other.reference()
        ),
        (None, Some(meant)) => format!("did you mean `{meant}`?"),
        (None, None) => format!("add the {kind} to the objects that the cluster receives, or correct the name"),
    };
    Some(Finding::warning(RULE.id, at, message).help(help).about(binding.object()).fixed_by(fix))
}
