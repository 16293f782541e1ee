//! The prerequisites of the objects of a list, and the prerequisites that these objects provide for others.

use super::identity_hash::kind_hash;
use super::pods::containers::{pod, references};
use crate::flux::Objects;
use crate::kube::Object;
use crate::text::Index;
use crate::yaml::{Name, Node};

/// The prerequisites of a list, computed once for all clusters that receive the list.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    /// The hashes of the kinds that `CustomResourceDefinition` objects of the list define.
    pub(crate) defined_kinds: Vec<u64>,
    /// The namespaces that the list contains.
    pub(crate) namespaces: Vec<Name>,
    /// The hashes of the kinds that may require a CRD, each with the position of its first object.
    pub(crate) custom_kinds: Vec<(u64, usize)>,
    /// The Secrets without which pods do not start: namespace, name, reference, and position of the workload.
    pub(crate) secrets: Vec<(Name, Name, Node, usize)>,
}

impl Needs {
    /// Collects the prerequisites of a list.
    pub(crate) fn collect(objects: &Objects) -> Self {
        let (mut needs, mut kinds) = (Self::default(), Index::default());
        for (at, object) in objects.iter().enumerate() {
            match (object.group(), object.kind()) {
                ("", "Namespace") => needs.namespaces.push(object.name().into()),
                ("apiextensions.k8s.io", "CustomResourceDefinition") => {
                    let text = |keys: &[&str]| object.text_at(keys);
                    if let (Some(group), Some(kind)) = (text(&["spec", "group"]), text(&["spec", "names", "kind"])) {
                        needs.defined_kinds.push(kind_hash(group, kind));
                    }
                }
                // The group that a CustomResourceDefinition defines contains a dot.
                (group, kind) if group.contains('.') => {
                    let hash = kind_hash(group, kind);
                    if kinds.insert(hash, ()).is_none() {
                        needs.custom_kinds.push((hash, at));
                    }
                }
                _ => {}
            }
            if pod(object).is_some() {
                needs.add_pod(object, at);
            }
        }
        needs
    }

    /// Returns whether the prerequisites depend on the content of an object, beyond its identity.
    pub(super) fn reads(object: &Object) -> bool {
        object.kind() == "CustomResourceDefinition" || pod(object).is_some()
    }

    fn add_pod(&mut self, object: &Object, at: usize) {
        let own = object.node.at_keys(&["metadata", "namespace"]).and_then(Node::shared_text);
        let namespace = own.filter(|own| !own.is_empty()).unwrap_or_else(|| "default".into());
        let secrets = references(object).into_iter().filter(|reference| reference.kind == "Secret");
        let names = secrets.filter_map(|secret| Some((secret.name.shared_text()?, secret.name.clone())));
        self.secrets.extend(names.map(|(name, node)| (namespace.clone(), name, node, at)));
    }
}
