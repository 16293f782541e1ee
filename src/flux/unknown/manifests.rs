//! Manifests in the values of releases, such as an ExternalSecret in `extraObjects`.

use std::collections::BTreeSet;

use crate::yaml::{Name, Node};

/// The namespaces of the manifests in the values of a release.
pub(super) fn namespaces_of_manifests(values: &Node) -> BTreeSet<Name> {
    let mut namespaces = BTreeSet::new();
    add_namespaces(values, &mut namespaces);
    namespaces
}

fn add_namespaces(values: &Node, namespaces: &mut BTreeSet<Name>) {
    if values.get("kind").is_some() && values.get("apiVersion").is_some() {
        namespaces.extend(values.at_keys(&["metadata", "namespace"]).and_then(Node::text).map(Name::from));
        return;
    }
    values.items().iter().for_each(|item| add_namespaces(item, namespaces));
    values.entries().iter().for_each(|entry| add_namespaces(&entry.node, namespaces));
}
