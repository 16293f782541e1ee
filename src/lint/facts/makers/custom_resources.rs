//! The ConfigMaps, Secrets and namespaces that operators may create for custom resources.

use std::collections::BTreeSet;

use crate::flux::Applied;
use crate::kube::groups;
use crate::text::Index;
use crate::yaml::Node;

/// The groups of operators that create no objects for their custom resources, beyond the objects that
/// [`View::producers`](crate::lint::view::View::producers) knows.
const PASSIVE: [&str; 13] = [
    "acme.cert-manager.io",
    "bitnami.com",
    "cert-manager.io",
    "cilium.io",
    "crd.projectcalico.org",
    "external-secrets.io",
    "keda.sh",
    "kyverno.io",
    "longhorn.io",
    "metallb.io",
    "monitoring.coreos.com",
    "projectcalico.org",
    "traefik.io",
];

/// The words in the names of fields that name an object to create.
const OUTPUTS: [&str; 5] = ["destination", "output", "secrettemplate", "target", "writeconnection"];

/// The maximum depth of a field.
const MAX_DEPTH: usize = 32;

/// Returns whether an operator may create objects for the custom resources of a group.
pub(crate) fn is_of_operator(group: &str) -> bool {
    let is_built_in = group.ends_with(".k8s.io") && !group.ends_with(".x-k8s.io");
    group.contains('.') && !is_built_in && !groups::is_toolkit(group) && !PASSIVE.contains(&group)
}

/// The objects that operators may create, by the names in custom resources.
#[derive(Debug, Default)]
pub(crate) struct CustomResources<'a> {
    /// The first custom resource for each namespace and name. The namespace of a cluster-scoped custom resource is empty.
    named: Index<(&'a str, &'a str), Applied<'a>>,
    namespaces: BTreeSet<&'a str>,
}

impl<'a> CustomResources<'a> {
    /// Reads the objects of a cluster.
    pub(crate) fn of(objects: impl Iterator<Item = Applied<'a>>) -> Self {
        let mut all = Self::default();
        for applied in objects.filter(|applied| is_of_operator(applied.object.group())) {
            let namespace = applied.namespace().unwrap_or_default();
            if !namespace.is_empty() {
                all.named.entry_or((namespace, applied.object.name()), || applied);
            }
            let Some(spec) = applied.object.node.get("spec") else { continue };
            let mut names = Vec::new();
            outputs(spec, false, 0, &mut names);
            for name in names {
                all.named.entry_or((namespace, name), || applied);
            }
            all.namespaces.extend(spec.get("namespaceName").and_then(Node::text));
        }
        all
    }

    /// Returns a custom resource that has the name of a ConfigMap or Secret, or that names it as its output.
    pub(crate) fn find(&self, namespace: &str, name: &str) -> Option<Applied<'a>> {
        self.named.get(&(namespace, name)).or_else(|| self.named.get(&("", name))).copied()
    }

    /// Returns whether a custom resource requests a namespace.
    pub(crate) fn requests(&self, namespace: &str) -> bool {
        self.namespaces.contains(namespace)
    }
}

/// Collects the names of objects in the fields of outputs.
fn outputs<'a>(node: &'a Node, is_output: bool, depth: usize, names: &mut Vec<&'a str>) {
    if depth > MAX_DEPTH {
        return;
    }
    for entry in node.entries() {
        let key = entry.key.to_ascii_lowercase();
        let is_output = is_output || OUTPUTS.iter().any(|word| key.contains(word));
        match entry.node.text() {
            Some(text) if is_output && (key.ends_with("name") || entry.node.entries().is_empty()) => names.push(text),
            _ => outputs(&entry.node, is_output, depth + 1, names),
        }
    }
    for item in node.items() {
        outputs(item, is_output, depth + 1, names);
    }
}
