//! Merge keys of lists. Lists without a merge key are replaced.
//!
//! Source: `x-kubernetes-patch-strategy`, `x-kubernetes-patch-merge-key` and `x-kubernetes-list-map-keys` of the schema
//! of Kubernetes 1.21, which kustomize 5.8 embeds. Lists of unknown kinds are replaced.

use super::user_schema::{LIST_KEYS, MAX_REFERENCES, MERGE_KEY, UserSchema, list_id};
use crate::kube::groups;
use crate::yaml::{Name, Node};

/// A type of the built-in schema or of a user's schema.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SchemaType<'a> {
    /// An unknown type, with the user's schema if there is one. Lists are replaced.
    Unknown(Option<&'a UserSchema>),
    /// A type of the built-in schema.
    Known(&'static str),
    /// A type of the user's schema.
    User(&'a UserSchema, &'a Node),
}

/// The merge strategy of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListMerge<'a> {
    /// The list of the patch replaces the list.
    Replace,
    /// Items with equal keys are merged.
    ByKeys(&'static [&'static str]),
    /// Items with equal keys are merged, with the keys of a user's schema.
    ByUserKeys(&'a [Name]),
    /// Scalars of the patch are added to the set.
    Set,
}

/// The kinds with a row in [`FIELDS`], or with object metadata only.
const KINDS: &[(&str, &[&str], &[&str])] = &[
    (
        "",
        &["v1"],
        &[
            "Binding",
            "ComponentStatus",
            "ConfigMap",
            "Endpoints",
            "Event",
            "LimitRange",
            "Namespace",
            "Node",
            "PersistentVolume",
            "PersistentVolumeClaim",
            "Pod",
            "PodTemplate",
            "ReplicationController",
            "ResourceQuota",
            "Secret",
            "Service",
            "ServiceAccount",
        ],
    ),
    (
        "admissionregistration.k8s.io",
        &["v1", "v1beta1"],
        &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
    ),
    ("apiextensions.k8s.io", &["v1", "v1beta1"], &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["v1", "v1beta1"], &["APIService"]),
    ("apps", &["v1"], &["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"]),
    ("autoscaling", &["v1", "v2beta1", "v2beta2"], &["HorizontalPodAutoscaler"]),
    ("batch", &["v1"], &["CronJob", "Job"]),
    ("batch", &["v1beta1"], &["CronJob"]),
    ("certificates.k8s.io", &["v1", "v1beta1"], &["CertificateSigningRequest"]),
    ("coordination.k8s.io", &["v1", "v1beta1"], &["Lease"]),
    ("discovery.k8s.io", &["v1", "v1beta1"], &["EndpointSlice"]),
    ("events.k8s.io", &["v1", "v1beta1"], &["Event"]),
    ("extensions", &["v1beta1"], &["Ingress"]),
    ("flowcontrol.apiserver.k8s.io", &["v1beta1"], &["FlowSchema", "PriorityLevelConfiguration"]),
    ("networking.k8s.io", &["v1"], &["Ingress", "IngressClass", "NetworkPolicy"]),
    ("networking.k8s.io", &["v1beta1"], &["Ingress", "IngressClass"]),
    ("node.k8s.io", &["v1", "v1beta1"], &["RuntimeClass"]),
    ("policy", &["v1", "v1beta1"], &["PodDisruptionBudget"]),
    ("policy", &["v1beta1"], &["PodSecurityPolicy"]),
    (groups::RBAC, &["v1", "v1beta1"], &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]),
    ("scheduling.k8s.io", &["v1", "v1beta1"], &["PriorityClass"]),
    ("storage.k8s.io", &["v1", "v1beta1"], &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"]),
];

const NAME: &[&str] = &["name"];
const TYPE: &[&str] = &["type"];

/// The fields of the schema: type, field, type of the field or its items, merge strategy (`Replace` without a list).
const FIELDS: &[(&str, &str, &str, ListMerge<'static>)] = &[
    ("APIService", "status", "Conditions", ListMerge::Replace),
    ("CSINode", "spec", "CSINodeSpec", ListMerge::Replace),
    ("CSINodeSpec", "drivers", "", ListMerge::ByKeys(NAME)),
    ("ComponentStatus", "conditions", "", ListMerge::ByKeys(TYPE)),
    ("Conditions", "conditions", "", ListMerge::ByKeys(TYPE)),
    ("Container", "env", "", ListMerge::ByKeys(NAME)),
    ("Container", "ports", "", ListMerge::ByKeys(&["containerPort", "protocol"])),
    ("Container", "volumeDevices", "", ListMerge::ByKeys(&["devicePath"])),
    ("Container", "volumeMounts", "", ListMerge::ByKeys(&["mountPath"])),
    ("CronJob", "spec", "CronJobSpec", ListMerge::Replace),
    ("CronJobSpec", "jobTemplate", "JobTemplateSpec", ListMerge::Replace),
    ("DaemonSet", "spec", "WorkloadSpec", ListMerge::Replace),
    ("DaemonSet", "status", "Conditions", ListMerge::Replace),
    ("Deployment", "spec", "WorkloadSpec", ListMerge::Replace),
    ("Deployment", "status", "Conditions", ListMerge::Replace),
    ("EphemeralContainer", "env", "", ListMerge::ByKeys(NAME)),
    ("EphemeralContainer", "volumeDevices", "", ListMerge::ByKeys(&["devicePath"])),
    ("EphemeralContainer", "volumeMounts", "", ListMerge::ByKeys(&["mountPath"])),
    ("EphemeralVolumeSource", "volumeClaimTemplate", "PersistentVolumeClaim", ListMerge::Replace),
    ("Job", "spec", "WorkloadSpec", ListMerge::Replace),
    ("Job", "status", "Conditions", ListMerge::Replace),
    ("JobTemplateSpec", "metadata", "ObjectMeta", ListMerge::Replace),
    ("JobTemplateSpec", "spec", "WorkloadSpec", ListMerge::Replace),
    ("MutatingWebhookConfiguration", "webhooks", "", ListMerge::ByKeys(NAME)),
    ("Namespace", "status", "Conditions", ListMerge::Replace),
    ("Node", "spec", "NodeSpec", ListMerge::Replace),
    ("Node", "status", "NodeStatus", ListMerge::Replace),
    ("NodeSpec", "podCIDRs", "", ListMerge::Set),
    ("NodeStatus", "addresses", "", ListMerge::ByKeys(TYPE)),
    ("NodeStatus", "conditions", "", ListMerge::ByKeys(TYPE)),
    ("ObjectMeta", "finalizers", "", ListMerge::Set),
    ("ObjectMeta", "ownerReferences", "", ListMerge::ByKeys(&["uid"])),
    ("PersistentVolumeClaim", "metadata", "ObjectMeta", ListMerge::Replace),
    ("PersistentVolumeClaim", "status", "Conditions", ListMerge::Replace),
    ("Pod", "spec", "PodSpec", ListMerge::Replace),
    ("Pod", "status", "PodStatus", ListMerge::Replace),
    ("PodDisruptionBudget", "status", "Conditions", ListMerge::Replace),
    ("PodSpec", "containers", "Container", ListMerge::ByKeys(NAME)),
    ("PodSpec", "ephemeralContainers", "EphemeralContainer", ListMerge::ByKeys(NAME)),
    ("PodSpec", "hostAliases", "", ListMerge::ByKeys(&["ip"])),
    ("PodSpec", "imagePullSecrets", "", ListMerge::ByKeys(NAME)),
    ("PodSpec", "initContainers", "Container", ListMerge::ByKeys(NAME)),
    ("PodSpec", "topologySpreadConstraints", "", ListMerge::ByKeys(&["topologyKey", "whenUnsatisfiable"])),
    ("PodSpec", "volumes", "Volume", ListMerge::ByKeys(NAME)),
    ("PodStatus", "conditions", "", ListMerge::ByKeys(TYPE)),
    ("PodStatus", "podIPs", "", ListMerge::ByKeys(&["ip"])),
    ("PodTemplate", "template", "PodTemplateSpec", ListMerge::Replace),
    ("PodTemplateSpec", "metadata", "ObjectMeta", ListMerge::Replace),
    ("PodTemplateSpec", "spec", "PodSpec", ListMerge::Replace),
    ("ReplicaSet", "spec", "WorkloadSpec", ListMerge::Replace),
    ("ReplicaSet", "status", "Conditions", ListMerge::Replace),
    ("ReplicationController", "spec", "WorkloadSpec", ListMerge::Replace),
    ("ReplicationController", "status", "Conditions", ListMerge::Replace),
    ("Service", "spec", "ServiceSpec", ListMerge::Replace),
    ("Service", "status", "Conditions", ListMerge::Replace),
    ("ServiceAccount", "secrets", "", ListMerge::ByKeys(NAME)),
    ("ServiceSpec", "ports", "", ListMerge::ByKeys(&["port", "protocol"])),
    ("StatefulSet", "spec", "WorkloadSpec", ListMerge::Replace),
    ("StatefulSet", "status", "Conditions", ListMerge::Replace),
    ("ValidatingWebhookConfiguration", "webhooks", "", ListMerge::ByKeys(NAME)),
    ("Volume", "ephemeral", "EphemeralVolumeSource", ListMerge::Replace),
    ("WorkloadSpec", "template", "PodTemplateSpec", ListMerge::Replace),
];

const STRATEGY: &str = "x-kubernetes-patch-strategy";

impl<'a> SchemaType<'a> {
    /// The type of an object. The user's schema has precedence over the built-in schema.
    pub(crate) fn for_object(schema: Option<&'a UserSchema>, api_version: &str, kind: &str) -> Self {
        let user = schema.and_then(|schema| Some(Self::User(schema, schema.object(api_version, kind)?)));
        if let Some(user) = user {
            return user;
        }
        if schema.is_some_and(|schema| !schema.beside_built_in) {
            return Self::Unknown(schema);
        }
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let groups = KINDS.iter().filter(|(known, versions, _)| *known == group && versions.contains(&version));
        let kinds = groups.flat_map(|(_, _, kinds)| kinds.iter());
        kinds.copied().find(|known| *known == kind).map_or(Self::Unknown(schema), Self::Known)
    }

    /// The built-in type with a name.
    pub(crate) fn built_in(name: &str) -> Option<SchemaType<'static>> {
        FIELDS.iter().find(|(known, ..)| *known == name).map(|(known, ..)| SchemaType::Known(known))
    }

    /// The type of a field or of its items, and its merge strategy.
    pub(crate) fn field(self, name: &str) -> (Self, ListMerge<'a>) {
        let unknown = (Self::Unknown(None), ListMerge::Replace);
        let known = match self {
            Self::Unknown(_) => return (self, ListMerge::Replace),
            Self::User(schema, node) => {
                return user_field(schema, node, name).unwrap_or((Self::Unknown(Some(schema)), ListMerge::Replace));
            }
            Self::Known(known) => known,
        };
        match FIELDS.iter().find(|(kind, field, _, _)| *kind == known && *field == name) {
            Some((_, _, "", merge)) => (Self::Unknown(None), *merge),
            Some((_, _, child, merge)) => (Self::Known(child), *merge),
            // Every kind of the schema has object metadata.
            None if name == "metadata" && KINDS.iter().any(|(_, _, kinds)| kinds.contains(&known)) => {
                (Self::Known("ObjectMeta"), ListMerge::Replace)
            }
            None => unknown,
        }
    }

    /// The type itself or, if it is unknown, the type of the object that a mapping contains.
    pub(crate) fn or_for_object(self, old: &Node, new: Option<&Node>) -> Self {
        let Self::Unknown(schema) = self else { return self };
        let type_meta = |node: &Node| {
            let text = |field: &str| node.get(field).and_then(Node::text).filter(|text| !text.is_empty());
            Some((text("apiVersion")?.to_string(), text("kind")?.to_string()))
        };
        let named = [Some(old), new].into_iter().flatten().find_map(type_meta);
        named.map_or(self, |(api_version, kind)| Self::for_object(schema, &api_version, &kind))
    }
}

/// The type of a field of the user's schema or of its items, and its merge strategy.
fn user_field<'a>(schema: &'a UserSchema, node: &'a Node, name: &str) -> Option<(SchemaType<'a>, ListMerge<'a>)> {
    let own = node.get("properties").and_then(|properties| properties.get(name));
    let field = own.or_else(|| node.get("additionalProperties").filter(|node| node.is_map()))?;
    let Some(field) = schema.resolve(field) else {
        return Some((built_in_type(schema, field)?, ListMerge::Replace));
    };
    let strategy = field.get(STRATEGY).and_then(Node::text).unwrap_or_default();
    if !strategy.split(',').any(|one| one == "merge") {
        return Some((SchemaType::User(schema, field), ListMerge::Replace));
    }
    let keys = field.get(LIST_KEYS).and_then(list_id).or_else(|| field.get(MERGE_KEY)?.text().map(str::to_string));
    let merge = keys.and_then(|keys| schema.keys.get(&keys)).map_or(ListMerge::Set, |keys| ListMerge::ByUserKeys(keys));
    let items = field.get("items").and_then(|items| schema.resolve(items));
    let built_in = || field.get("items").and_then(|items| built_in_type(schema, items));
    let items = items.map(|items| SchemaType::User(schema, items)).or_else(built_in);
    Some((items.unwrap_or(SchemaType::Unknown(Some(schema))), merge))
}

/// The built-in type of a reference that leads out of the user's schema.
fn built_in_type<'a>(schema: &'a UserSchema, mut node: &'a Node) -> Option<SchemaType<'static>> {
    for _ in 0..MAX_REFERENCES {
        let reference = node.get("$ref").and_then(Node::text)?;
        match schema.definitions.get(reference.strip_prefix("#/definitions/")?) {
            Some(next) => node = next,
            None if schema.beside_built_in => return SchemaType::built_in(reference.rsplit('.').next()?),
            None => return None,
        }
    }
    None
}
