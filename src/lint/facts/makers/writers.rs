//! The roles of programs that write Secrets and ConfigMaps.

use std::collections::BTreeMap;

use crate::flux::Applied;
use crate::kube::Object;
use crate::yaml::Node;

/// The roles that allow accounts to write Secrets and ConfigMaps, by the names in their rules.
#[derive(Debug, Default)]
pub(crate) struct Writers<'a> {
    /// The first Role of each resource, namespace and name.
    roles: BTreeMap<(&'static str, &'a str, &'a str), Applied<'a>>,
    /// The first ClusterRole of each resource and name.
    cluster_roles: BTreeMap<(&'static str, &'a str), Applied<'a>>,
}

impl<'a> Writers<'a> {
    /// Reads the objects of kind `Role` and `ClusterRole`.
    pub(crate) fn of(
        roles: impl Iterator<Item = Applied<'a>>,
        cluster_roles: impl Iterator<Item = Applied<'a>>,
    ) -> Self {
        let mut all = Self::default();
        for role in roles {
            let Some(namespace) = role.object.namespace() else { continue };
            for (resource, name) in written_by(role.object) {
                all.roles.entry((resource, namespace, name)).or_insert(role);
            }
        }
        for role in cluster_roles {
            for (resource, name) in written_by(role.object) {
                all.cluster_roles.entry((resource, name)).or_insert(role);
            }
        }
        all
    }

    /// Returns a role with a rule for an object: a Role in its namespace, or a ClusterRole.
    pub(crate) fn find(&self, resource: &'static str, namespace: &str, name: &str) -> Option<Applied<'a>> {
        let role = self.roles.get(&(resource, namespace, name));
        role.or_else(|| self.cluster_roles.get(&(resource, name))).copied()
    }
}

/// The resources and names of the Secrets and ConfigMaps that a role allows to write.
fn written_by(role: &Object) -> impl Iterator<Item = (&'static str, &str)> {
    let rules = role.node.get("rules").map_or(&[][..], Node::items);
    rules.iter().flat_map(|rule| {
        let texts = |field: &str| rule.get(field).map_or(&[][..], Node::items).iter().filter_map(Node::text);
        let has = |field: &str, word: &str| texts(field).any(|text| text == word);
        let writes = ["create", "update", "patch", "*"].iter().any(|verb| has("verbs", verb));
        let resources = ["secrets", "configmaps"].into_iter().filter(|resource| writes && has("resources", resource));
        let resources: Vec<&'static str> = resources.collect();
        let names = rule.get("resourceNames").map_or(&[][..], Node::items).iter().filter_map(Node::text);
        names.flat_map(move |name| resources.clone().into_iter().map(move |resource| (resource, name)))
    })
}
