//! The built-in field specs of kustomize's transformers, as data.
//!
//! Source: the default configuration of kustomize 5.8. The data includes rows that match nothing, because the
//! configuration of users is merged with these rows.

use std::sync::{Arc, LazyLock};

use super::field_spec::{FieldSpec, Gvk};
use super::transformer_config::{ConfigField, Conflict, NameReference, TransformerConfig};
use crate::kube::groups::RBAC;

/// A field spec: group, version, kind, path.
type Row = (&'static str, &'static str, &'static str, &'static str);

/// Kinds with a pod spec: version, kind, path of the pod spec.
const PODS: &[(&str, &str, &str)] = &[
    ("v1", "Pod", "spec"),
    ("", "PodTemplate", "template/spec"),
    ("", "Deployment", "spec/template/spec"),
    ("", "ReplicaSet", "spec/template/spec"),
    ("", "DaemonSet", "spec/template/spec"),
    ("", "StatefulSet", "spec/template/spec"),
    ("", "Job", "spec/template/spec"),
    ("", "CronJob", "spec/jobTemplate/spec/template/spec"),
];

/// Kinds with references to service accounts, claims and priority classes, and the path of the pod spec.
const WORKLOADS: &[(&str, &str)] = &[
    ("Pod", "spec"),
    ("StatefulSet", "spec/template/spec"),
    ("Deployment", "spec/template/spec"),
    ("ReplicationController", "spec/template/spec"),
    ("CronJob", "spec/jobTemplate/spec/template/spec"),
    ("Job", "spec/template/spec"),
    ("DaemonSet", "spec/template/spec"),
];

/// Templates with metadata. Annotations apply to any group of `StatefulSet`, labels only to `apps`.
const TEMPLATES: &[Row] = &[
    ("", "v1", "ReplicationController", "spec/template/metadata"),
    ("", "", "Deployment", "spec/template/metadata"),
    ("", "", "ReplicaSet", "spec/template/metadata"),
    ("", "", "DaemonSet", "spec/template/metadata"),
    ("apps", "", "StatefulSet", "spec/template/metadata"),
    ("batch", "", "Job", "spec/template/metadata"),
    ("batch", "", "CronJob", "spec/jobTemplate/metadata"),
    ("batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata"),
];

const CLAIM_TEMPLATES: Row = ("apps", "", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels");

/// Selectors that a transformer creates if they are missing.
const SELECTORS: &[Row] = &[
    ("", "v1", "Service", "spec/selector"),
    ("", "v1", "ReplicationController", "spec/selector"),
    ("", "", "Deployment", "spec/selector/matchLabels"),
    ("", "", "ReplicaSet", "spec/selector/matchLabels"),
    ("", "", "DaemonSet", "spec/selector/matchLabels"),
    ("apps", "", "StatefulSet", "spec/selector/matchLabels"),
];

/// Selectors that a transformer changes only if they exist.
const EXISTING_SELECTORS: &[Row] = &[
    ("batch", "", "Job", "spec/selector/matchLabels"),
    ("batch", "", "CronJob", "spec/jobTemplate/spec/selector/matchLabels"),
    ("policy", "", "PodDisruptionBudget", "spec/selector/matchLabels"),
    ("networking.k8s.io", "", "NetworkPolicy", "spec/podSelector/matchLabels"),
    ("networking.k8s.io", "", "NetworkPolicy", "spec/ingress/from/podSelector/matchLabels"),
    ("networking.k8s.io", "", "NetworkPolicy", "spec/egress/to/podSelector/matchLabels"),
];

/// Selectors in the pod specs of `Deployment` and `StatefulSet`, below `spec/template/spec`.
const POD_SELECTORS: &[&str] = &[
    "affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    "affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    "affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    "affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    "topologySpreadConstraints/labelSelector/matchLabels",
];

/// Image references, below a pod spec.
const IMAGES: &[&str] = &["containers[]/image", "initContainers[]/image", "volumes[]/image/reference"];

const REPLICAS: &[&str] = &["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"];

/// Fields of containers that support `$(NAME)`.
const CONTAINER_VARIABLES: &[&str] = &["args", "command", "env/value", "volumeMounts/mountPath"];

/// Other fields that support `$(NAME)`: kind and path.
const VARIABLES: &[(&str, &str)] = &[
    ("CronJob", "spec/jobTemplate/spec/template/volumes/nfs/server"),
    ("DaemonSet", "spec/template/spec/volumes/nfs/server"),
    ("Deployment", "spec/template/spec/volumes/nfs/server"),
    ("Deployment", "spec/template/metadata/annotations"),
    ("Ingress", "spec/rules/host"),
    ("Ingress", "spec/tls/hosts"),
    ("Ingress", "spec/tls/secretName"),
    ("Job", "spec/template/spec/volumes/nfs/server"),
    ("Pod", "spec/volumes/nfs/server"),
    ("ReplicaSet", "spec/template/spec/volumes/nfs/server"),
    ("Service", "spec/ports/port"),
    ("Service", "spec/ports/targetPort"),
    ("StatefulSet", "spec/volumeClaimTemplates/spec/nfs/server"),
    ("PersistentVolume", "spec/nfs/server"),
    ("", "metadata/labels"),
    ("", "metadata/annotations"),
];

const ADMISSION: &str = "admissionregistration.k8s.io";

/// References to `ConfigMap`s, below a pod spec.
const CONFIG_MAPS_OF_PODS: &[&str] = &[
    "volumes/configMap/name",
    "containers/env/valueFrom/configMapKeyRef/name",
    "initContainers/env/valueFrom/configMapKeyRef/name",
    "containers/envFrom/configMapRef/name",
    "initContainers/envFrom/configMapRef/name",
    "volumes/projected/sources/configMap/name",
];

const CONFIG_MAPS: &[Row] = &[
    ("", "", "Node", "spec/configSource/configMap"),
    ("", "", "Role", "rules/resourceNames"),
    ("", "", "ClusterRole", "rules/resourceNames"),
    ("", "", "Ingress", r"metadata/annotations/nginx.ingress.kubernetes.io\/fastcgi-params-configmap"),
];

/// References to Secrets, below a pod spec.
const SECRETS_OF_PODS: &[&str] = &[
    "volumes/secret/secretName",
    "containers/env/valueFrom/secretKeyRef/name",
    "initContainers/env/valueFrom/secretKeyRef/name",
    "containers/envFrom/secretRef/name",
    "initContainers/envFrom/secretRef/name",
    "imagePullSecrets/name",
    "volumes/projected/sources/secret/name",
];

const SECRETS: &[Row] = &[
    ("", "", "Ingress", "spec/tls/secretName"),
    ("", "", "Ingress", r"metadata/annotations/ingress.kubernetes.io\/auth-secret"),
    ("", "", "Ingress", r"metadata/annotations/nginx.ingress.kubernetes.io\/auth-secret"),
    ("", "", "Ingress", r"metadata/annotations/nginx.ingress.kubernetes.io\/auth-tls-secret"),
    ("", "", "ServiceAccount", "imagePullSecrets/name"),
    ("", "", "StorageClass", "parameters/secretName"),
    ("", "", "StorageClass", "parameters/adminSecretName"),
    ("", "", "StorageClass", "parameters/userSecretName"),
    ("", "", "StorageClass", "parameters/secretRef"),
    ("", "", "Role", "rules/resourceNames"),
    ("", "", "ClusterRole", "rules/resourceNames"),
    ("serving.knative.dev", "v1", "Service", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
    ("", "", "PersistentVolume", "spec/azureFile/secretName"),
];

const SERVICES: &[Row] = &[
    ("apps", "", "StatefulSet", "spec/serviceName"),
    ("", "", "Ingress", "spec/rules/http/paths/backend/serviceName"),
    ("", "", "Ingress", "spec/backend/serviceName"),
    ("", "", "Ingress", "spec/rules/http/paths/backend/service/name"),
    ("", "", "Ingress", "spec/defaultBackend/service/name"),
    ("apiregistration.k8s.io", "", "APIService", "spec/service/name"),
    (ADMISSION, "", "ValidatingWebhookConfiguration", "webhooks/clientConfig/service"),
    (ADMISSION, "", "MutatingWebhookConfiguration", "webhooks/clientConfig/service"),
];

/// Other name references: group, version and kind of the target, and the referring fields.
const REFERENCES: &[(&str, &str, &str, &[Row])] = &[
    ("", "", "Deployment", AUTOSCALERS),
    ("", "", "ReplicationController", AUTOSCALERS),
    ("", "", "ReplicaSet", AUTOSCALERS),
    ("", "", "StatefulSet", AUTOSCALERS),
    ("", "v1", "ConfigMap", CONFIG_MAPS),
    ("", "v1", "Secret", SECRETS),
    ("", "v1", "Service", SERVICES),
    (RBAC, "", "Role", &[(RBAC, "", "RoleBinding", "roleRef/name")]),
    (
        RBAC,
        "",
        "ClusterRole",
        &[(RBAC, "", "RoleBinding", "roleRef/name"), (RBAC, "", "ClusterRoleBinding", "roleRef/name")],
    ),
    (
        "",
        "v1",
        "ServiceAccount",
        &[(RBAC, "", "RoleBinding", "subjects"), (RBAC, "", "ClusterRoleBinding", "subjects")],
    ),
    ("", "v1", "PersistentVolumeClaim", &[]),
    (
        "",
        "v1",
        "PersistentVolume",
        &[("", "", "PersistentVolumeClaim", "spec/volumeName"), ("", "", "ClusterRole", "rules/resourceNames")],
    ),
    (
        "storage.k8s.io",
        "v1",
        "StorageClass",
        &[
            ("", "", "PersistentVolume", "spec/storageClassName"),
            ("", "", "PersistentVolumeClaim", "spec/storageClassName"),
            ("", "", "StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName"),
        ],
    ),
    ("scheduling.k8s.io", "v1", "PriorityClass", &[]),
    // The group contains a version, so it matches no object, and this reference is never updated.
    ("networking.k8s.io/v1", "v1", "IngressClass", &[("", "", "Ingress", "spec/ingressClassName")]),
    (
        ADMISSION,
        "",
        "ValidatingAdmissionPolicy",
        &[(ADMISSION, "", "ValidatingAdmissionPolicyBinding", "spec/policyName")],
    ),
];

const AUTOSCALERS: &[Row] = &[("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name")];

/// The built-in configuration, merged and sorted.
pub(crate) fn built_in() -> &'static Arc<TransformerConfig> {
    static BUILT_IN: LazyLock<Arc<TransformerConfig>> = LazyLock::new(|| {
        let merged = Arc::new(TransformerConfig::default()).merge(&default_fieldspecs());
        merged.expect("the built-in configuration has no conflicts")
    });
    &BUILT_IN
}

/// Merges two configurations. Most configurations are the built-in configuration, which needs no merge with itself.
pub(crate) fn merged(
    into: &Arc<TransformerConfig>,
    from: &Arc<TransformerConfig>,
) -> Result<Arc<TransformerConfig>, Conflict> {
    let is_first = into.is_empty() && Arc::ptr_eq(from, built_in());
    if is_first || Arc::ptr_eq(into, from) { Ok(from.clone()) } else { into.merge(from) }
}

/// The built-in configuration, in kustomize's order.
fn default_fieldspecs() -> TransformerConfig {
    let mut known = TransformerConfig::default();
    let mut put =
        |config_field: ConfigField, specs: Vec<FieldSpec>| known.fields.entry(config_field).or_default().extend(specs);
    let rows = |rows: &[Row], create: bool| -> Vec<FieldSpec> { rows.iter().map(|row| spec(*row, create)).collect() };
    let name = || vec![spec(("", "", "", "metadata/name"), false)];
    let below = |field: &str| {
        let row = |(group, version, kind, path): &Row| {
            let group = if *kind == "StatefulSet" && field == "annotations" { "" } else { group };
            FieldSpec::new(Gvk::new(group, version, kind), format!("{path}/{field}"), true)
        };
        let metadata_spec = FieldSpec::new(Gvk::new("", "", ""), format!("metadata/{field}"), true);
        std::iter::once(metadata_spec).chain(TEMPLATES.iter().map(row)).collect::<Vec<FieldSpec>>()
    };
    put(ConfigField::NamePrefix, name());
    put(ConfigField::NameSuffix, name());
    put(
        ConfigField::Namespace,
        vec![
            spec(("", "", "Namespace", "metadata/name"), true),
            spec(("apiregistration.k8s.io", "", "APIService", "spec/service/namespace"), true),
            spec(
                (
                    "apiextensions.k8s.io",
                    "",
                    "CustomResourceDefinition",
                    "spec/conversion/webhook/clientConfig/service/namespace",
                ),
                false,
            ),
        ],
    );
    put(ConfigField::CommonLabels, rows(SELECTORS, true));
    put(ConfigField::CommonLabels, rows(EXISTING_SELECTORS, false));
    for kind in ["Deployment", "StatefulSet"] {
        let selector =
            |path: &&str| FieldSpec::new(Gvk::new("apps", "", kind), format!("spec/template/spec/{path}"), false);
        put(ConfigField::CommonLabels, POD_SELECTORS.iter().map(selector).collect());
    }
    put(ConfigField::CommonLabels, below("labels"));
    put(ConfigField::CommonLabels, rows(&[CLAIM_TEMPLATES], true));
    put(ConfigField::TemplateLabels, below("labels"));
    put(ConfigField::TemplateLabels, rows(&[CLAIM_TEMPLATES], true));
    put(ConfigField::CommonAnnotations, below("annotations"));
    for pod in ["spec", "spec/template/spec"] {
        let image = |path: &&str| FieldSpec::new(Gvk::new("", "", ""), format!("{pod}/{path}"), true);
        put(ConfigField::Images, IMAGES.iter().map(image).collect());
    }
    put(ConfigField::Replicas, REPLICAS.iter().map(|kind| spec(("", "", kind, "spec/replicas"), true)).collect());
    for (_, kind, pod) in PODS.iter().filter(|(_, kind, _)| *kind != "PodTemplate") {
        for containers in ["containers", "initContainers"] {
            let variable =
                |path: &&str| FieldSpec::new(Gvk::new("", "", kind), format!("{pod}/{containers}/{path}"), false);
            put(ConfigField::VarReference, CONTAINER_VARIABLES.iter().map(variable).collect());
        }
    }
    put(ConfigField::VarReference, VARIABLES.iter().map(|(kind, path)| spec(("", "", kind, path), false)).collect());
    known.references =
        REFERENCES.iter().map(|(group, version, kind, rows)| reference(group, version, kind, rows)).collect();
    known
}

fn spec((group, version, kind, path): Row, create: bool) -> FieldSpec {
    FieldSpec::new(Gvk::new(group, version, kind), path, create)
}

fn reference(group: &str, version: &str, kind: &str, rows: &[Row]) -> NameReference {
    let in_pods = |paths: &[&str]| -> Vec<FieldSpec> {
        let specs = PODS.iter().flat_map(|(version, kind, pod)| {
            paths.iter().map(move |path| FieldSpec::new(Gvk::new("", version, kind), format!("{pod}/{path}"), false))
        });
        specs.collect()
    };
    let in_workloads = |path: &str| -> Vec<FieldSpec> {
        let row = |(kind, pod): &(&str, &str)| FieldSpec::new(Gvk::new("", "", kind), format!("{pod}/{path}"), false);
        WORKLOADS.iter().map(row).collect()
    };
    let mut referrers = match kind {
        "ConfigMap" => in_pods(CONFIG_MAPS_OF_PODS),
        "Secret" => in_pods(SECRETS_OF_PODS),
        "ServiceAccount" => in_workloads("serviceAccountName"),
        "PersistentVolumeClaim" => in_workloads("volumes/persistentVolumeClaim/claimName"),
        "PriorityClass" => in_workloads("priorityClassName"),
        _ => Vec::new(),
    };
    referrers.extend(rows.iter().map(|row| spec(*row, false)));
    NameReference { target: Gvk::new(group, version, kind), referrers }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_configuration_adds_nothing_to_itself() {
        let twice = built_in().merge(built_in()).unwrap();
        let count = |config: &TransformerConfig| {
            let fields = config.fields.values().map(Vec::len).sum::<usize>();
            fields + config.references.iter().map(|reference| reference.referrers.len()).sum::<usize>()
        };
        assert_eq!(count(&twice), count(built_in()));
    }
}
