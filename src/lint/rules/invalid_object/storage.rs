//! Persistent volumes and their claims.

use super::fault::{Fault, field, is_unknown, items, known, text};
use crate::kube::Object;
use crate::kube::quantity::Quantity;
use crate::lint::fields::known_text;
use crate::yaml::{Entry, Node};

pub(super) fn claim(object: &Object, faults: &mut Vec<Fault>) {
    let Some(spec) = object.node.get("spec").filter(|spec| spec.is_map()) else { return };
    let modes = field(spec, "accessModes");
    if modes.is_none_or(|modes| modes.is_seq() && modes.items().is_empty()) {
        let remedy = "set `accessModes`, for example to `[ReadWriteOnce]`";
        faults.push(Fault::new(modes.unwrap_or(spec), "has no `accessModes`", remedy));
    }
    check_modes(spec, faults);
    let resources = field(spec, "resources");
    let requests = resources.and_then(|resources| field(resources, "requests"));
    let is_open = |node: Option<&Node>| node.is_some_and(|node| !node.is_map() || is_unknown(node));
    let has_size = requests.is_some_and(|requests| field(requests, "storage").is_some());
    if !has_size && !is_open(resources) && !is_open(requests) {
        let at = requests.or(resources).unwrap_or(spec);
        faults.push(Fault::new(at, "requests no `storage`", "set `resources.requests.storage`"));
    }
    if let Some(size) = requests.and_then(|requests| field(requests, "storage")) {
        faults.extend(not_positive(size));
    }
}

/// The fields of a persistent volume that contain its type.
const VOLUMES: [&str; 22] = [
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cephfs",
    "cinder",
    "csi",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "glusterfs",
    "hostPath",
    "iscsi",
    "local",
    "nfs",
    "photonPersistentDisk",
    "portworxVolume",
    "quobyte",
    "rbd",
    "scaleIO",
    "storageos",
    "vsphereVolume",
];

/// Checks that a persistent volume has one type.
///
/// Source: `ValidatePersistentVolumeSpec` of `k8s.io/kubernetes/pkg/apis/core/validation`.
pub(super) fn volume(object: &Object, faults: &mut Vec<Fault>) {
    let Some(spec) = object.node.get("spec").filter(|spec| spec.is_map()) else { return };
    let set = |entry: &&Entry| VOLUMES.contains(&&*entry.key) && !entry.node.is_null();
    let mut volumes = spec.entries().iter().filter(set);
    let Some(first) = volumes.next() else {
        faults.push(Fault::new(spec, "has no volume", "set one, such as `csi`, `nfs` or `hostPath`"));
        return;
    };
    check_modes(spec, faults);
    check_capacity(spec, faults);
    check_volume(spec, first, faults);
    if let Some(second) = volumes.next() {
        let message = format!("has two volumes: `{}` and `{}`", first.key, second.key);
        faults.push(Fault { at: second.key_span(), message, remedy: "remove one of them".to_owned() });
    }
}

/// Checks that `ReadWriteOncePod` is the only access mode.
fn check_modes(spec: &Node, faults: &mut Vec<Fault>) {
    let modes = items(spec, "accessModes");
    let is_other = |mode: &Node| mode.text().is_some_and(|text| text.starts_with("Read") && text != "ReadWriteOncePod");
    let only = modes.iter().find(|mode| mode.text() == Some("ReadWriteOncePod"));
    if let Some(node) = only.filter(|_| modes.iter().any(is_other)) {
        let message = "has the access mode `ReadWriteOncePod` beside another one";
        faults.push(Fault::new(node, message, "remove one of them"));
    }
}

/// Checks that a volume has a size.
fn check_capacity(spec: &Node, faults: &mut Vec<Fault>) {
    let capacity = field(spec, "capacity");
    match capacity.and_then(|capacity| field(capacity, "storage")) {
        Some(size) => faults.extend(not_positive(size)),
        None if capacity.is_some_and(|capacity| !capacity.is_map() || is_unknown(capacity)) => {}
        None => faults.push(Fault::new(capacity.unwrap_or(spec), "has no `capacity.storage`", "set the size")),
    }
}

fn not_positive(size: &Node) -> Option<Fault> {
    let amount = known_text(size)?;
    let is_positive = Quantity::parse(amount)?.nanos() > 0;
    (!is_positive).then(|| Fault::new(size, format!("has the size `{amount}`"), "write a size above 0"))
}

/// Checks the fields of a type of volumes.
fn check_volume(spec: &Node, volume: &Entry, faults: &mut Vec<Fault>) {
    match &*volume.key {
        "local" if field(spec, "nodeAffinity").is_none() => {
            let message = "has a local volume, but no `nodeAffinity`".to_owned();
            let remedy = "set `nodeAffinity` to the node with the volume".to_owned();
            faults.push(Fault { at: volume.key_span(), message, remedy });
        }
        "nfs" => {
            if let Some((node, path)) = known(&volume.node, "path").filter(|(_, path)| !path.starts_with('/')) {
                let message = format!("has the NFS path `{path}`, which is not absolute");
                faults.push(Fault::new(node, message, "write a path that starts with `/`"));
            }
        }
        "hostPath" if text(spec, "persistentVolumeReclaimPolicy") == Some("Recycle") => {
            if let Some((node, _)) = known(&volume.node, "path").filter(|(_, path)| *path == "/") {
                let message = "recycles the root directory of a node";
                faults.push(Fault::new(
                    node,
                    message,
                    "write another path, or `persistentVolumeReclaimPolicy: Retain`",
                ));
            }
        }
        _ => {}
    }
}
