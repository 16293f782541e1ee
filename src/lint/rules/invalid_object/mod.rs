mod fault;
mod ports;
mod secrets;
mod pod_settings;
mod pod_values;
mod probes;
mod services;
mod kinds;
mod storage;
mod roles;
mod settings;
mod endpoints;
mod bindings;
mod networking;
mod pods;
mod cron;
mod workloads;

use std::cell::LazyCell;
use std::collections::BTreeMap;

use crate::base::finding::{Finding, Label, Severity};
use crate::flux::{Applied, ApplyMode};
use crate::kube::Object;
use crate::lint::facts::distinct::memory_address;
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::text::Span;
use fault::Fault;

declare! {
    /// The API server rejects an object whose fields contradict each other.
    ///
    /// ## Why
    ///
    /// The schema of a kind describes each field. The API server also compares fields: a container can mount only volumes
    /// of its pod, and the selector of a Deployment must match the labels of its pods. It rejects an object that fails
    /// such a check, and Flux then applies nothing of the Kustomization that contains the object.
    ///
    /// The rule checks these fields of built-in kinds:
    ///
    /// - workloads: the selector and the labels of the pods, the update strategy and `restartPolicy`;
    /// - Pods and workloads except StatefulSets: the names and images of containers, volumes that a container mounts, volumes
    ///   with several types, their names, modes and paths, two mounts at one path, ports, sources of variables, requests above
    ///   limits, names and amounts of resources, handlers of probes and events, probes of init containers, tolerations, affinities,
    ///   the spread over nodes, DNS, addresses of hosts, users, seccomp profiles, and `allowPrivilegeEscalation` beside `privileged`;
    /// - CronJob: the schedule; HorizontalPodAutoscaler: `minReplicas`, `maxReplicas` and metrics; PodDisruptionBudget:
    ///   `minAvailable` and `maxUnavailable`; Deployment: `minReadySeconds`;
    /// - Service: ports, node ports, external names and addresses, headless Services, and fields that depend on the type; Ingress:
    ///   hosts, paths, rules and backends; IngressClass: its controller; NetworkPolicy: peers, networks and ports; Endpoints and
    ///   EndpointSlice: addresses;
    /// - PersistentVolumeClaim: access modes and size; PersistentVolume: access modes, size and its volume;
    /// - ConfigMap and Secret: keys, and the keys that the type of a Secret requires;
    /// - LimitRange, ResourceQuota and PriorityClass: their values; APIService and the configurations of webhooks: their names;
    /// - Role and ClusterRole: verbs, API groups and resources; RoleBinding and ClusterRoleBinding: the kind and group of the role, and the kind, group and namespace of subjects;
    /// - Namespace: the levels and versions of Pod Security Standards.
    ///
    /// The rule reads the objects that the cluster receives, after patches and substitution. It ignores values that only the
    /// cluster knows, and objects that Flux merges with an object of another applier. If a chart may create the object, the
    /// finding is a warning.
    ///
    /// ## How to fix it
    ///
    /// Correct the field.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: shop
    ///   namespace: shop
    /// spec:
    ///   selector:
    ///     matchLabels:
    ///       app: shop
    ///   template:
    ///     metadata:
    ///       labels:
    ///         app: shop
    ///     spec:
    ///       containers:
    ///         - name: shop
    ///           image: registry.example.com/shop:1.4.2
    ///           volumeMounts:
    ///             - name: data
    ///               mountPath: /data
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: shop
    ///   namespace: shop
    /// spec:
    ///   selector:
    ///     matchLabels:
    ///       app: shop
    ///   template:
    ///     metadata:
    ///       labels:
    ///         app: shop
    ///     spec:
    ///       containers:
    ///         - name: shop
    ///           image: registry.example.com/shop:1.4.2
    ///           volumeMounts:
    ///             - name: data
    ///               mountPath: /data
    ///       volumes:
    ///         - name: data
    ///           emptyDir: {}
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// `pkg/apis/{core,apps,batch,autoscaling,policy,networking,rbac,scheduling}/validation` of
    /// [Kubernetes](https://github.com/kubernetes/kubernetes/tree/master/pkg/apis),
    /// [Kubernetes: Pod Security Admission](https://kubernetes.io/docs/concepts/security/pod-security-admission/)
    "invalid-object", Error, "the API server rejects an object whose fields contradict each other", Check::Cluster(check),
}

/// The kinds that have checks, with their checks.
type Checks = fn(&Object, &mut Vec<Fault>);

const KINDS: [(&str, &str, Checks); 31] = [
    ("", "ConfigMap", kinds::config_map),
    ("", "Namespace", kinds::namespace),
    ("", "PersistentVolume", storage::volume),
    ("", "PersistentVolumeClaim", storage::claim),
    ("", "Pod", pods::pod),
    ("", "Secret", kinds::secret),
    ("", "Service", kinds::service),
    ("apps", "DaemonSet", workloads::daemon_set),
    ("apps", "Deployment", workloads::deployment),
    ("apps", "ReplicaSet", workloads::workload),
    ("apps", "StatefulSet", workloads::stateful_set),
    ("autoscaling", "HorizontalPodAutoscaler", kinds::autoscaler),
    ("batch", "CronJob", workloads::cron_job),
    ("batch", "Job", workloads::job),
    ("networking.k8s.io", "Ingress", networking::ingress),
    ("networking.k8s.io", "NetworkPolicy", networking::network_policy),
    ("policy", "PodDisruptionBudget", kinds::disruption_budget),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", bindings::cluster_role_binding),
    ("rbac.authorization.k8s.io", "RoleBinding", bindings::role_binding),
    ("", "ReplicationController", pods::pod),
    ("", "Endpoints", endpoints::endpoints),
    ("", "LimitRange", settings::limit_range),
    ("", "ResourceQuota", settings::quota),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration", settings::webhooks),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", settings::webhooks),
    ("apiregistration.k8s.io", "APIService", settings::api_service),
    ("discovery.k8s.io", "EndpointSlice", endpoints::slice),
    ("networking.k8s.io", "IngressClass", settings::ingress_class),
    ("rbac.authorization.k8s.io", "ClusterRole", roles::cluster_role),
    ("rbac.authorization.k8s.io", "Role", roles::role),
    ("scheduling.k8s.io", "PriorityClass", settings::priority_class),
];

/// The maximum number of further places with the same fault that a finding shows.
const MAX_PLACES: usize = 8;

fn check(view: &View<'_>, found: &mut Findings) {
    // An object that no cluster receives may be a patch or a template.
    if !view.is_whole() {
        return;
    }
    let parts = LazyCell::new(|| view.parts());
    let mut faults = Vec::new();
    for (group, kind, checks) in KINDS {
        for applied in view.of_kind(group, kind) {
            checks(applied.object, &mut faults);
            if faults.is_empty() || is_part(&applied) || parts.contains(&memory_address(applied.object)) {
                faults.clear();
                continue;
            }
            let is_doubtful = applied.by.is_suspended() || view.may_be_of_chart(&applied);
            let severity = if is_doubtful { Severity::Warning } else { Severity::Error };
            let reference = applied.object.reference();
            // An object may have the same value in several fields, such as the host of an Ingress.
            let mut places: BTreeMap<(String, String), Vec<Span>> = BTreeMap::new();
            for Fault { at, message, remedy } in faults.drain(..) {
                places.entry((message, remedy)).or_default().push(applied.by.place(&at));
            }
            for ((message, remedy), mut places) in places {
                places.sort_by(|a, b| a.order().cmp(&b.order()));
                let Some((first, others)) = places.split_first() else { continue };
                let label = Label::new(first.clone(), "the API server rejects this");
                let help = format!(
                    "{remedy}; the API server rejects the object, and Flux applies nothing of its Kustomization"
                );
                let finding = Finding::error(RULE.id, label, format!("{reference} {message}"));
                let mut finding = Finding { severity, ..finding }.help(help).about(reference.clone());
                if !others.is_empty() {
                    finding = finding.with_faults(places.iter().map(|place| (place.clone(), message.clone())));
                }
                for other in others.iter().filter(|other| *other != first).take(MAX_PLACES) {
                    finding = finding.related(other.clone(), "also here");
                }
                found.push(finding);
            }
        }
    }
}

/// Returns whether an object may be a part of an object that exists.
fn is_part(applied: &Applied<'_>) -> bool {
    // Kubernetes distributions create objects in this namespace, to which server-side apply adds fields.
    applied.namespace() == Some("kube-system") || applied.apply_mode() != ApplyMode::Applied
}
