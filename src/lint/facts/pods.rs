//! The pods of workloads.

use crate::kube::Object;
use crate::yaml::Node;

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
