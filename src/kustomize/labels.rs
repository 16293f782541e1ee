//! `labels` and `commonLabels`: pairs written into metadata, and into templates and selectors where asked.

use super::definition::Definition;
use super::field_spec::{FieldSpec, set_text};
use super::resources::Resource;
use crate::yaml::{Entry, Node};

/// Where templates carry labels; group, version, kind, path.
const TEMPLATES: &[(&str, &str, &str, &str)] = &[
    ("", "v1", "ReplicationController", "spec/template/metadata/labels"),
    ("", "", "Deployment", "spec/template/metadata/labels"),
    ("", "", "ReplicaSet", "spec/template/metadata/labels"),
    ("", "", "DaemonSet", "spec/template/metadata/labels"),
    ("apps", "", "StatefulSet", "spec/template/metadata/labels"),
    ("apps", "", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels"),
    ("batch", "", "Job", "spec/template/metadata/labels"),
    ("batch", "", "CronJob", "spec/jobTemplate/metadata/labels"),
    ("batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata/labels"),
];

/// Where selectors are made when they are missing.
const SELECTORS: &[(&str, &str, &str, &str)] = &[
    ("", "v1", "Service", "spec/selector"),
    ("", "v1", "ReplicationController", "spec/selector"),
    ("", "", "Deployment", "spec/selector/matchLabels"),
    ("", "", "ReplicaSet", "spec/selector/matchLabels"),
    ("", "", "DaemonSet", "spec/selector/matchLabels"),
    ("apps", "", "StatefulSet", "spec/selector/matchLabels"),
];

/// Where selectors are changed only when they are there.
const EXISTING_SELECTORS: &[(&str, &str, &str, &str)] = &[
    ("batch", "", "Job", "spec/selector/matchLabels"),
    ("batch", "", "CronJob", "spec/jobTemplate/spec/selector/matchLabels"),
    ("policy", "", "PodDisruptionBudget", "spec/selector/matchLabels"),
    ("networking.k8s.io", "", "NetworkPolicy", "spec/podSelector/matchLabels"),
    ("networking.k8s.io", "", "NetworkPolicy", "spec/ingress/from/podSelector/matchLabels"),
    ("networking.k8s.io", "", "NetworkPolicy", "spec/egress/to/podSelector/matchLabels"),
];

/// The selectors inside the pods of `Deployment` and `StatefulSet`.
const POD_SELECTORS: &[&str] = &[
    "spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    "spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    "spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    "spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels",
];

/// One entry of `labels`, or `commonLabels`.
pub(super) struct LabelSet {
    pairs: Vec<Entry>,
    specs: Vec<FieldSpec>,
}

/// The labels of a kustomization in the order in which kustomize writes them.
pub(super) fn read(definition: &Definition) -> Vec<LabelSet> {
    let mut sets: Vec<LabelSet> = definition.items("labels").iter().map(read_one).collect();
    if let Some(common) = definition.entry("commonLabels") {
        let pairs = common.node.entries().to_vec();
        sets.push(LabelSet { pairs, specs: selectors_and_templates() });
    }
    sets
}

fn read_one(node: &Node) -> LabelSet {
    let says = |field: &str| node.get(field).and_then(Node::text) == Some("true");
    let mut specs: Vec<FieldSpec> = node.get("fields").map_or(&[][..], Node::items).iter().map(read_field).collect();
    if says("includeSelectors") {
        specs.extend(selectors_and_templates());
    } else if says("includeTemplates") {
        specs.push(spec(("", "", "", "metadata/labels"), true));
        specs.extend(TEMPLATES.iter().map(|row| spec(*row, true)));
    } else {
        specs.push(spec(("", "", "", "metadata/labels"), true));
    }
    LabelSet { pairs: node.get("pairs").map_or(&[][..], Node::entries).to_vec(), specs }
}

fn read_field(node: &Node) -> FieldSpec {
    let text = |key: &str| node.get(key).and_then(Node::text).unwrap_or_default().to_string();
    FieldSpec {
        group: text("group"),
        version: text("version"),
        kind: text("kind"),
        path: text("path"),
        create: text("create") == "true",
    }
}

fn selectors_and_templates() -> Vec<FieldSpec> {
    let mut specs: Vec<FieldSpec> = SELECTORS.iter().map(|row| spec(*row, true)).collect();
    specs.extend(EXISTING_SELECTORS.iter().map(|row| spec(*row, false)));
    for kind in ["Deployment", "StatefulSet"] {
        specs.extend(POD_SELECTORS.iter().map(|path| spec(("apps", "", kind, path), false)));
    }
    specs.push(spec(("", "", "", "metadata/labels"), true));
    specs.extend(TEMPLATES.iter().map(|row| spec(*row, true)));
    specs
}

fn spec((group, version, kind, path): (&str, &str, &str, &str), create: bool) -> FieldSpec {
    FieldSpec { group: group.into(), version: version.into(), kind: kind.into(), path: path.into(), create }
}

impl LabelSet {
    /// Writes the pairs into an object.
    pub(super) fn apply(&self, resource: &mut Resource) {
        let mut node = resource.node.clone();
        for entry in &self.pairs {
            let key_span = entry.key_span();
            let set = |map: &Node| set_text(map, &entry.key, &key_span, &entry.node);
            for spec in self.specs.iter().filter(|spec| spec.matches(&resource.id)) {
                node = spec.apply(&node, &key_span, &set).unwrap_or(node);
            }
        }
        resource.node = node;
    }
}
