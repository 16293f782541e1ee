//! The resource name and scope of the kinds that Kubernetes, Flux and `CustomResourceDefinition` objects define.

use crate::kube::{Object, Scope};
use crate::text::Index;
use crate::yaml::{Name, Node};

use super::shipped::SHIPPED;

/// The resource of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// The name of the resource: `deployments`.
    pub plural: Name,
    /// The scope of the objects.
    pub scope: Scope,
}

impl Kind {
    /// Returns whether the objects of the kind have a namespace.
    pub fn is_namespaced(&self) -> bool {
        self.scope != Scope::Cluster
    }
}

/// The known kinds of a cluster.
#[derive(Debug, Clone)]
pub struct Kinds {
    by_name: Index<(Name, Name), Kind>,
}

impl Kinds {
    /// The shipped kinds, and the kinds that `CustomResourceDefinition` objects define.
    pub fn with_definitions<'a>(objects: impl Iterator<Item = &'a Object>) -> Self {
        let mut by_name = Index::default();
        for kind in &SHIPPED.kinds {
            let known = Kind { plural: kind.plural.clone(), scope: kind.scope() };
            by_name.insert((kind.group.clone(), kind.kind.clone()), known);
        }
        for object in objects.filter(|object| object.is("apiextensions.k8s.io", "CustomResourceDefinition")) {
            let text = |keys: &[&str]| object.node.at_keys(keys).and_then(Node::shared_text);
            let names = ["group", "scope"].map(|key| text(&["spec", key]));
            let own = ["kind", "plural"].map(|key| text(&["spec", "names", key]));
            let ([Some(group), Some(scope)], [Some(kind), Some(plural)]) = (names, own) else { continue };
            by_name.insert(
                (group, kind),
                Kind { plural, scope: if &*scope == "Cluster" { Scope::Cluster } else { Scope::Namespaced } },
            );
        }
        Self { by_name }
    }

    /// The resource of a kind, if it is known.
    pub fn find(&self, group: &str, kind: &str) -> Option<&Kind> {
        self.by_name.get(&(Name::from(group), Name::from(kind)))
    }
}

/// Returns whether Kubernetes or Flux defines a group, so that all of its kinds and roles are known.
pub(crate) fn is_shipped(group: &str) -> bool {
    SHIPPED.kinds.iter().any(|kind| &*kind.group == group)
}

#[cfg(test)]
mod tests {
    use super::SHIPPED;
    use crate::kube::scope_of;

    #[test]
    fn the_scope_of_a_shipped_kind_is_the_same_everywhere() {
        for kind in &SHIPPED.kinds {
            assert_eq!(scope_of(&kind.group, &kind.kind), kind.scope(), "{}/{}", kind.group, kind.kind);
        }
    }
}
