//! The plural name and the scope of each kind: of Kubernetes' own, of Flux's, and of definitions that are at hand.

use crate::kube::Object;
use crate::text::Index;
use crate::yaml::{Name, Node};

use super::shipped::SHIPPED;

/// What requests need to know of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// The name of its resource: `deployments`.
    pub plural: Name,
    /// Whether its objects have a namespace.
    pub is_namespaced: bool,
}

/// What is known of kinds.
#[derive(Debug, Clone)]
pub struct Kinds {
    by_name: Index<(Name, Name), Kind>,
}

impl Kinds {
    /// Those that are shipped, and those that definitions among some objects define.
    pub fn of<'a>(objects: impl Iterator<Item = &'a Object>) -> Self {
        let mut by_name = Index::default();
        for kind in &SHIPPED.kinds {
            let known = Kind { plural: kind.plural.clone(), is_namespaced: kind.namespaced };
            by_name.insert((kind.group.clone(), kind.kind.clone()), known);
        }
        for object in objects.filter(|object| object.is("apiextensions.k8s.io", "CustomResourceDefinition")) {
            let text = |keys: &[&str]| object.node.at_keys(keys).and_then(Node::shared_text);
            let names = ["group", "scope"].map(|key| text(&["spec", key]));
            let own = ["kind", "plural"].map(|key| text(&["spec", "names", key]));
            let ([Some(group), Some(scope)], [Some(kind), Some(plural)]) = (names, own) else { continue };
            by_name.insert((group, kind), Kind { plural, is_namespaced: &*scope != "Cluster" });
        }
        Self { by_name }
    }

    /// What is known of a kind of a group.
    pub fn find(&self, group: &str, kind: &str) -> Option<&Kind> {
        self.by_name.get(&(Name::from(group), Name::from(kind)))
    }
}

/// Whether the API server itself serves a group, or Flux does: all of their kinds and roles are known.
pub(crate) fn is_shipped(group: &str) -> bool {
    SHIPPED.kinds.iter().any(|kind| &*kind.group == group)
}
