use std::collections::BTreeSet;

use crate::flux::State;
use crate::kube::{Object, groups};
use crate::lint::findings::Findings;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::rule::{Check, declare, pedantic};
use crate::lint::view::View;
use crate::yaml::Node;

declare! {
    /// A namespace of a tenant has no Pod Security label, ResourceQuota, LimitRange or default-deny NetworkPolicy.
    ///
    /// ## Why
    ///
    /// RBAC only separates the objects of tenants. Without these settings, the pods of a tenant may run privileged on a
    /// shared node, use all of its memory, and connect to every other pod.
    ///
    /// The rule ignores settings that a policy or an operator may create in the namespaces of tenants, and namespaces
    /// into which the platform installs a chart. It does not run if an input of the platform is not built.
    ///
    /// ## How to fix it
    ///
    /// Set the label `pod-security.kubernetes.io/enforce` on the Namespace, and add a ResourceQuota, a LimitRange and a
    /// NetworkPolicy for all pods.
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
    ///     pod-security.kubernetes.io/enforce: restricted
    ///     toolkit.fluxcd.io/tenant: apps
    /// ---
    /// apiVersion: v1
    /// kind: ResourceQuota
    /// metadata:
    ///   name: all
    ///   namespace: backend
    /// spec:
    ///   hard:
    ///     limits.memory: 16Gi
    /// ---
    /// apiVersion: v1
    /// kind: LimitRange
    /// metadata:
    ///   name: all
    ///   namespace: backend
    /// spec:
    ///   limits:
    ///     - type: Container
    ///       default:
    ///         memory: 256Mi
    /// ---
    /// apiVersion: networking.k8s.io/v1
    /// kind: NetworkPolicy
    /// metadata:
    ///   name: deny
    ///   namespace: backend
    /// spec:
    ///   podSelector: {}
    ///   policyTypes:
    ///     - Ingress
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
    /// [Kubernetes: multi-tenancy](https://kubernetes.io/docs/concepts/security/multi-tenancy/)
    "tenant-baseline", Pedantic, "a namespace of a tenant does not isolate its pods",
    Check::Cluster(check),
}

/// The label with which Kubernetes restricts the pods of a namespace.
const POD_SECURITY: &str = "pod-security.kubernetes.io/enforce";

/// The kinds of network policies for all namespaces.
const WIDE: [(&str, &str); 6] = [
    ("cilium.io", "CiliumClusterwideNetworkPolicy"),
    ("crd.projectcalico.org", "GlobalNetworkPolicy"),
    ("policy.networking.k8s.io", "AdminNetworkPolicy"),
    ("policy.networking.k8s.io", "BaselineAdminNetworkPolicy"),
    ("policy.networking.k8s.io", "ClusterNetworkPolicy"),
    ("projectcalico.org", "GlobalNetworkPolicy"),
];
/// The kinds of network policies for one namespace that Kubernetes does not define.
const OTHERS: [(&str, &str); 3] = [
    ("cilium.io", "CiliumNetworkPolicy"),
    ("crd.projectcalico.org", "NetworkPolicy"),
    ("projectcalico.org", "NetworkPolicy"),
];

fn check(view: &View<'_>, found: &mut Findings) {
    let tenants = &view.tenancy().tenants;
    if tenants.is_empty() || !view.is_whole() {
        return;
    }
    if let Some(why) = unbuilt(view) {
        found.unchecked(format!("the settings of tenant namespaces: {why}"));
        return;
    }
    let baseline = Baseline::of(view);
    for (namespace, tenant) in tenants {
        let Presence::Received(applied) = view.presence("", "Namespace", "", namespace) else { continue };
        let lacking = baseline.lacking(applied.object, namespace);
        if lacking.is_empty() || baseline.installed.contains(namespace.as_str()) {
            continue;
        }
        let owner = tenant.as_ref().map_or_else(|| "a tenant".to_string(), |tenant| format!("tenant `{tenant}`"));
        let message = format!("namespace `{namespace}` of {owner} has {}", joined(&lacking));
        let help =
            "add the missing settings to the namespace: they protect other workloads from the pods of the tenant";
        let finding = pedantic(RULE.id, applied.by.place(applied.object.span()), message).help(help);
        found.push(finding.about(applied.object.reference()));
    }
}

/// The settings of the namespaces of a cluster.
///
/// A field is `None` if a generator or another kind of policy may create the setting.
struct Baseline<'a> {
    has_label: bool,
    quotas: Option<BTreeSet<&'a str>>,
    ranges: Option<BTreeSet<&'a str>>,
    denials: Option<BTreeSet<&'a str>>,
    /// The namespaces into which the platform installs charts.
    installed: BTreeSet<&'a str>,
}

impl<'a> Baseline<'a> {
    fn of(view: &View<'a>) -> Self {
        let named = |kind: &str| view.of_kind("", kind).filter_map(|applied| applied.namespace()).collect();
        let unless_generated = |kind: &str, all: BTreeSet<&'a str>| view.generator(kind).is_none().then_some(all);
        let denials = view.of_kind("networking.k8s.io", "NetworkPolicy").filter(|applied| denies(applied.object));
        let others = OTHERS.iter().flat_map(|(group, kind)| view.of_kind(group, kind));
        let denials = denials.chain(others).filter_map(|applied| applied.namespace()).collect();
        let is_wide = WIDE.iter().any(|(group, kind)| view.of_kind(group, kind).next().is_some());
        Self {
            has_label: view.generator(POD_SECURITY).is_some(),
            quotas: unless_generated("ResourceQuota", named("ResourceQuota")),
            ranges: unless_generated("LimitRange", named("LimitRange")),
            denials: unless_generated("NetworkPolicy", denials).filter(|_| !is_wide),
            installed: installed(view),
        }
    }

    fn lacking(&self, namespace: &Object, name: &str) -> Vec<String> {
        let lacks = |namespaces: &Option<BTreeSet<&str>>| namespaces.as_ref().is_some_and(|all| !all.contains(name));
        let all = [
            (
                !self.has_label && namespace.label(POD_SECURITY).is_none(),
                "no label `pod-security.kubernetes.io/enforce`",
            ),
            (lacks(&self.quotas), "no ResourceQuota"),
            (lacks(&self.ranges), "no LimitRange"),
            (lacks(&self.denials), "no NetworkPolicy that denies by default"),
        ];
        all.into_iter().filter(|(lacks, _)| *lacks).map(|(_, fault)| fault.to_string()).collect()
    }
}

/// Returns whether a NetworkPolicy selects all pods of its namespace and does not allow all ingress traffic.
fn denies(policy: &Object) -> bool {
    let Some(spec) = policy.node.get("spec") else { return false };
    let selects_all =
        spec.get("podSelector").is_none_or(|selector| selector.entries().iter().all(|entry| is_empty(&entry.node)));
    let allows_all = |field: &str| spec.get(field).map_or(&[][..], Node::items).iter().any(is_empty);
    selects_all && !allows_all("ingress")
}

fn is_empty(node: &Node) -> bool {
    node.is_null() || (node.text().is_none() && node.entries().is_empty() && node.items().is_empty())
}

/// The namespaces into which releases of the platform install charts. A chart may contain each of the settings.
fn installed<'a>(view: &View<'a>) -> BTreeSet<&'a str> {
    let tenants = &view.tenancy().tenants;
    let releases = view.of_kind(groups::HELM, "HelmRelease");
    let releases = releases.filter(|applied| applied.namespace().is_none_or(|own| !tenants.contains_key(own)));
    releases.filter_map(|applied| applied.object.text_at(&["spec", "targetNamespace"])).collect()
}

/// The reason why an input of the platform is unknown.
///
/// The function ignores inputs of tenants, because a tenant does not protect others from itself.
fn unbuilt(view: &View<'_>) -> Option<String> {
    let is_tenants = |namespace: Option<&str>| namespace.is_some_and(|own| view.tenancy().tenants.contains_key(own));
    let mut unbuilt = view.appliers().filter(|applier| !is_tenants(applier.reference.namespace.as_deref()));
    unbuilt.find_map(|applier| match &applier.state {
        State::Built => None,
        State::Failed => Some(format!("{} does not build", applier.reference)),
        State::NotBuilt(why) => Some(format!("{} is not built: {why}", applier.reference)),
    })
}

fn joined(parts: &[String]) -> String {
    match parts {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => parts.concat(),
    }
}
