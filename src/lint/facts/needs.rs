//! What the objects of a list need to be there before them, and what they bring for others: found once for all clusters
//! that share the list.

use std::collections::BTreeSet;

use super::listing::kind_print;
use super::pods::{containers, pod};
use crate::flux::Objects;
use crate::kube::Object;
use crate::text::Index;
use crate::yaml::{Name, Node};

/// What the objects of a list need, and what they bring.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    /// The kinds that the definitions among them define, by their hashes.
    pub(crate) defines: Vec<u64>,
    /// The namespaces that they make.
    pub(crate) makes: Vec<Name>,
    /// The kinds of those groups that definitions may define, by their hashes, each with the position of the first one.
    pub(crate) custom: Vec<(u64, usize)>,
    /// The Secrets that pods mount or read without which they do not start: the namespace, the name, the place, and the
    /// position of the object that the pods are of.
    pub(crate) secrets: Vec<(Name, Name, Node, usize)>,
}

impl Needs {
    /// Looks through a list.
    pub(crate) fn of(objects: &Objects) -> Self {
        let (mut needs, mut kinds) = (Self::default(), Index::default());
        for (at, object) in objects.iter().enumerate() {
            match (object.group(), object.kind()) {
                ("", "Namespace") => needs.makes.push(object.name().into()),
                ("apiextensions.k8s.io", "CustomResourceDefinition") => {
                    let said = |keys: &[&str]| object.text_at(keys);
                    if let (Some(group), Some(kind)) = (said(&["spec", "group"]), said(&["spec", "names", "kind"])) {
                        needs.defines.push(kind_print(group, kind));
                    }
                }
                // Only groups with a dot can be defined.
                (group, kind) if group.contains('.') => {
                    let print = kind_print(group, kind);
                    if kinds.insert(print, ()).is_none() {
                        needs.custom.push((print, at));
                    }
                }
                _ => {}
            }
            if let Some(pod) = pod(object) {
                needs.take_pod(object, pod, at);
            }
        }
        needs
    }

    /// Whether more counts of an object than its identity.
    pub(super) fn looks_into(object: &Object) -> bool {
        object.kind() == "CustomResourceDefinition" || pod(object).is_some()
    }

    fn take_pod(&mut self, object: &Object, pod: &Node, at: usize) {
        let named = object.node.at_keys(&["metadata", "namespace"]).and_then(Node::shared_text);
        let namespace = named.filter(|named| !named.is_empty()).unwrap_or_else(|| "default".into());
        let mut seen: BTreeSet<Name> = BTreeSet::new();
        let mut take = |reference: Option<&Node>, key: &str| {
            let Some(reference) = reference else { return };
            let is_optional = reference.get("optional").and_then(Node::text) == Some("true");
            let Some(name) = reference.get(key).filter(|_| !is_optional) else { return };
            let Some(text) = name.shared_text().filter(|text| !text.is_empty()) else { return };
            if seen.insert(text.clone()) {
                self.secrets.push((namespace.clone(), text, name.clone(), at));
            }
        };
        for volume in items(pod, "volumes") {
            take(volume.get("secret"), "secretName");
            for source in volume.get("projected").map_or(&[][..], |projected| items(projected, "sources")) {
                take(source.get("secret"), "name");
            }
        }
        for container in containers(object) {
            for variable in items(container, "env") {
                take(variable.at_keys(&["valueFrom", "secretKeyRef"]), "name");
            }
            for source in items(container, "envFrom") {
                take(source.get("secretRef"), "name");
            }
        }
    }
}

fn items<'a>(node: &'a Node, key: &str) -> &'a [Node] {
    node.get(key).map_or(&[][..], Node::items)
}
