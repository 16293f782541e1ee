mod policy_generators;

use crate::base::finding::{Finding, Label, did_you_mean};
use crate::kube::{Object, groups};
use crate::lint::findings::Findings;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::rule::{Check, declare};
use policy_generators::has_word;
use crate::lint::view::View;
use crate::rbac::Binding;

declare! {
    /// A RoleBinding or ClusterRoleBinding names a role that is not there.
    ///
    /// ## Why
    ///
    /// Kubernetes accepts the binding and says nothing; it just gives no rights. Whoever relies on them fails later, far
    /// from here. And whoever may make a role of that name decides what the binding gives.
    ///
    /// Silent about the roles that Kubernetes and Flux ship and those of the usual platforms (GKE, EKS, AKS, OpenShift,
    /// Rancher, k3s), and about other clusters that are reached by `kubeConfig`. A role that is called like a chart of
    /// this cluster may come with it, and one may come with what could not be built: then nothing is claimed.
    ///
    /// ## How to fix it
    ///
    /// Add the role to what the cluster receives (a file that its kustomization.yaml does not list is not received), or
    /// correct the name. A Role has to be in the binding's own namespace.
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
    /// ## Source
    ///
    /// [Kubernetes: role bindings](https://kubernetes.io/docs/reference/access-authn-authz/rbac/#rolebinding-and-clusterrolebinding)
    "dangling-role-reference", Error, "a binding names a role that is not there", Check::Cluster(check),
}

/// How the names of roles begin that platforms and their add-ons bring.
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

/// The kinds that give rights.
const BINDINGS: [&str; 2] = ["ClusterRoleBinding", "RoleBinding"];

fn check(view: &View<'_>, found: &mut Findings) {
    if !view.is_whole() || view.receiver.target.is_some() {
        return;
    }
    // Roles and bindings are shipped together: without a binding of its own, a cluster misses none.
    let mut own = BINDINGS.iter().flat_map(|kind| view.of_kind(groups::RBAC, kind));
    if own.next().is_none() {
        return;
    }
    let rbac = view.rbac();
    for binding in rbac.bindings().filter(|binding| rbac.role(binding).is_none()) {
        let name = &*binding.role.name;
        if name.contains("${") || PLATFORMS.iter().any(|begin| name.starts_with(begin)) {
            continue;
        }
        let (namespace, kind) =
            if binding.role.is_cluster_role { ("", "ClusterRole") } else { (&*binding.namespace, "Role") };
        match view.presence(groups::RBAC, kind, namespace, name) {
            Presence::Unknown(_) if may_be_made(view, name) => {
                found.unchecked("roles that charts, or what is not built, may bring");
            }
            Presence::Received(_) | Presence::Produced(_) | Presence::BuiltIn => {}
            Presence::Missing | Presence::Unknown(_) if view.generator(kind).is_some() => {
                found.unchecked("roles that a policy may generate");
            }
            Presence::Missing | Presence::Unknown(_) => found.extend(finding(view, binding, namespace, kind)),
        }
    }
}

/// Whether something that is not seen may bring a role: what is not built, or a chart that is called like it.
fn may_be_made(view: &View<'_>, role: &str) -> bool {
    let is_built = view.appliers().all(|applier| applier.state == crate::flux::State::Built);
    let mut releases = view.of_kind(groups::HELM, "HelmRelease");
    !is_built || releases.any(|release| names(release.object).iter().any(|name| has_word(role, last(name))))
}

/// The names of a release, by which its chart calls what it brings.
fn names(release: &Object) -> Vec<&str> {
    let fields: [&[&str]; 6] = [
        &["metadata", "name"],
        &["spec", "releaseName"],
        &["spec", "chart", "spec", "chart"],
        &["spec", "chartRef", "name"],
        &["spec", "values", "fullnameOverride"],
        &["spec", "values", "nameOverride"],
    ];
    fields.iter().filter_map(|keys| release.text_at(keys)).filter(|name| !name.is_empty()).collect()
}

/// What a chart is called that is named by a path.
fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn finding(view: &View<'_>, binding: &Binding, namespace: &str, kind: &str) -> Option<Finding> {
    let at = Label::new(binding.role.place.written()?.clone(), "nothing brings it");
    let message = format!("{} names {}, which is not there", binding.reference(), binding.role_name());
    let mut others = view.of_kind(groups::RBAC, kind);
    let elsewhere = others.find(|other| other.object.name() == &*binding.role.name);
    let roles = view.of_kind(groups::RBAC, kind);
    let near: Vec<String> = roles
        .filter(|role| namespace.is_empty() || role.namespace() == Some(namespace))
        .map(|role| role.object.name().to_owned())
        .collect();
    let help = match (elsewhere, did_you_mean(&binding.role.name, near.iter().map(String::as_str))) {
        (Some(other), _) => format!(
            "{} is in another namespace: a Role has to be in the binding's own, `{namespace}`",
            other.object.reference()
        ),
        (None, Some(meant)) => format!("did you mean `{meant}`?"),
        (None, None) => format!("add the {kind} to what the cluster receives, or correct the name"),
    };
    Some(Finding::error(RULE.id, at, message).help(help).about(binding.object()))
}
