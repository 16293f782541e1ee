//! The labels of the pods that a cluster receives, and the pods that a selector selects.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::containers::containers;
use crate::flux::Applied;
use crate::kube::Object;
use crate::lint::fields::known_text;
use crate::text::Index;
use crate::yaml::{Entry, Node};

/// The maximum number of pods that are compared with one selector.
const MAX_COMPARED: usize = 500;

/// The kinds with pods.
pub(crate) const WORKLOADS: [(&str, &str); 8] = [
    ("", "Pod"),
    ("", "ReplicationController"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
    ("apps", "ReplicaSet"),
    ("batch", "Job"),
    ("batch", "CronJob"),
];

/// The pods of a workload.
pub(crate) struct Pods<'a> {
    pub(crate) workload: Applied<'a>,
    /// The labels of the pods.
    pub(crate) labels: &'a Node,
    port_names: OnceLock<Option<BTreeSet<&'a str>>>,
}

impl<'a> Pods<'a> {
    /// The names of the ports of the containers; `None` if they are not known.
    pub(crate) fn port_names(&self) -> Option<&BTreeSet<&'a str>> {
        let names = self.port_names.get_or_init(|| {
            let ports = containers(self.workload.object)
                .flat_map(|container| container.get("ports").map_or(&[][..], Node::items))
                .filter_map(|port| port.get("name").filter(|name| !name.is_null()));
            ports.map(known_text).collect()
        });
        names.as_ref()
    }
}

/// The pods of a cluster, by their labels.
#[derive(Default)]
pub(crate) struct PodLabels<'a> {
    all: Vec<Pods<'a>>,
    /// The positions of the pods in a namespace with a key.
    by_key: Index<(&'a str, &'a str), Vec<usize>>,
    /// The positions of the pods in a namespace with a label.
    by_label: Index<(&'a str, &'a str, &'a str), Vec<usize>>,
    /// The namespaces with pods whose labels are not known.
    open: Index<&'a str, ()>,
}

impl<'a> PodLabels<'a> {
    /// Collects the pods of workloads.
    pub(crate) fn of(workloads: impl Iterator<Item = Applied<'a>>) -> Self {
        let mut found = Self::default();
        for workload in workloads {
            let object: &'a Object = workload.object;
            let Some(namespace) = workload.namespace() else { continue };
            let labels = object.node.at_keys(labels_of(object)).filter(|labels| labels.is_map());
            let is_known = |entry: &Entry| known_text(&entry.node).is_some() && !entry.key.contains('$');
            let Some(labels) = labels.filter(|labels| labels.entries().iter().all(is_known)) else {
                found.open.insert(namespace, ());
                continue;
            };
            for entry in labels.entries() {
                let value = entry.node.text().unwrap_or_default();
                found.by_key.entry_or((namespace, &*entry.key), Vec::new).push(found.all.len());
                found.by_label.entry_or((namespace, &*entry.key, value), Vec::new).push(found.all.len());
            }
            found.all.push(Pods { workload, labels, port_names: OnceLock::new() });
        }
        found
    }

    /// Returns whether the labels of some pods of a namespace are not known.
    pub(crate) fn is_open(&self, namespace: &str) -> bool {
        self.open.contains(namespace)
    }

    /// The pods of a namespace that a selector of labels selects; `None` if there are too many pods, or the selector is empty
    /// or not known.
    pub(crate) fn selected<'s>(&'s self, namespace: &'s str, selector: &'s Node) -> Option<Vec<&'s Pods<'a>>> {
        let labels: Option<Vec<(&str, &str)>> =
            selector.entries().iter().map(|entry| Some((&*entry.key, known_text(&entry.node)?))).collect();
        let labels = labels?;
        let with = |(key, value): &(&'s str, &'s str)| -> &'s [usize] {
            self.by_label.get(&(namespace, *key, *value)).map_or(&[], Vec::as_slice)
        };
        let candidates = labels.iter().map(with).min_by_key(|pods| pods.len())?;
        let has =
            |pods: &&Pods<'_>, (key, value): &(&str, &str)| pods.labels.get(key).and_then(Node::text) == Some(*value);
        let pods = (candidates.len() <= MAX_COMPARED).then(|| candidates.iter().filter_map(|at| self.all.get(*at)))?;
        Some(pods.filter(|pods| labels.iter().all(|label| has(pods, label))).collect())
    }

    /// The first pods of a namespace with all keys of a selector.
    pub(crate) fn with_keys<'s>(&'s self, namespace: &'s str, selector: &'s Node) -> Option<&'s Pods<'a>> {
        let keys = || selector.entries().iter().map(|entry| &*entry.key);
        let with = |key: &'s str| -> &'s [usize] { self.by_key.get(&(namespace, key)).map_or(&[], Vec::as_slice) };
        let candidates = keys().map(with).min_by_key(|pods| pods.len())?;
        let mut pods = candidates.iter().take(MAX_COMPARED).filter_map(|at| self.all.get(*at));
        pods.find(|pods| keys().all(|key| pods.labels.get(key).is_some()))
    }
}

/// The path of the labels of the pods of a workload.
fn labels_of(workload: &Object) -> &'static [&'static str] {
    match workload.kind() {
        "Pod" => &["metadata", "labels"],
        "CronJob" => &["spec", "jobTemplate", "spec", "template", "metadata", "labels"],
        _ => &["spec", "template", "metadata", "labels"],
    }
}
