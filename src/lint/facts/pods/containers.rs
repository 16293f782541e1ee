//! The pods of workloads, and the objects that they need.

use std::collections::BTreeSet;

use crate::kube::Object;
use crate::yaml::Node;

/// A reference of a pod to an object of its namespace. Without the object, the pod does not start.
pub(crate) struct PodReference<'a> {
    /// The kind of the object, in the core group.
    pub(crate) kind: &'static str,
    /// The name of the object.
    pub(crate) name: &'a Node,
}

/// The pod `spec` of a Pod or workload; `None` for other kinds.
pub(crate) fn pod(object: &Object) -> Option<&Node> {
    let path: &[&str] = match (object.group(), object.kind()) {
        ("", "Pod") => &["spec"],
        ("", "ReplicationController")
        | ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
        | ("batch", "Job") => &["spec", "template", "spec"],
        ("batch", "CronJob") => &["spec", "jobTemplate", "spec", "template", "spec"],
        _ => return None,
    };
    object.node.at_keys(path)
}

/// The containers and init containers of a Pod or workload.
pub(crate) fn containers(object: &Object) -> impl Iterator<Item = &Node> {
    let lists = ["initContainers", "containers"].into_iter();
    lists.flat_map(move |field| pod(object).and_then(|pod| pod.get(field)).map(Node::items).unwrap_or_default())
}

/// The references of the pods of a Pod or workload, without optional references, each object once.
pub(crate) fn references(object: &Object) -> Vec<PodReference<'_>> {
    let Some(pod) = pod(object) else { return Vec::new() };
    let mut all = Vec::new();
    for volume in items(pod, "volumes") {
        all.push(("ConfigMap", volume.get("configMap"), "name"));
        all.push(("Secret", volume.get("secret"), "secretName"));
        all.push(("PersistentVolumeClaim", volume.get("persistentVolumeClaim"), "claimName"));
        for source in volume.get("projected").map_or(&[][..], |projected| items(projected, "sources")) {
            all.push(("ConfigMap", source.get("configMap"), "name"));
            all.push(("Secret", source.get("secret"), "name"));
        }
    }
    for container in containers(object) {
        for variable in items(container, "env") {
            all.push(("ConfigMap", variable.at_keys(&["valueFrom", "configMapKeyRef"]), "name"));
            all.push(("Secret", variable.at_keys(&["valueFrom", "secretKeyRef"]), "name"));
        }
        for source in items(container, "envFrom") {
            all.push(("ConfigMap", source.get("configMapRef"), "name"));
            all.push(("Secret", source.get("secretRef"), "name"));
        }
    }
    // The API server copies one of the fields to the other.
    let account = ["serviceAccountName", "serviceAccount"].into_iter().find(|field| pod.get(field).is_some());
    all.extend(account.map(|field| ("ServiceAccount", Some(pod), field)));
    let mut seen = BTreeSet::new();
    let mut references = Vec::new();
    for (kind, reference, key) in all {
        let Some(reference) = reference else { continue };
        let is_optional = reference.get("optional").and_then(Node::text) == Some("true");
        let Some(name) = reference.get(key).filter(|_| !is_optional) else { continue };
        let Some(text) = name.text().filter(|text| !text.is_empty()) else { continue };
        if seen.insert((kind, text)) {
            references.push(PodReference { kind, name });
        }
    }
    references
}

fn items<'a>(node: &'a Node, key: &str) -> &'a [Node] {
    node.get(key).map_or(&[][..], Node::items)
}
